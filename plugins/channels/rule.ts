import type { Logger } from '../../kernel/index.ts'
import { runInTime } from '../shared/work/attempt.ts'
import { inServer } from '../shared/work/contexts.ts'
import { Call } from '../shared/work/running.ts'
import type { ChannelRuleCall } from './declared.ts'

/** Calls the functions among the options of channels. They fail closed: after an error, a rejection or a timeout, the client is refused. */
export class Rules {
  readonly #timeout: number
  readonly #log: Logger
  readonly #server: object

  constructor(timeout: number, log: Logger, server: object) {
    this.#timeout = timeout
    this.#log = log
    this.#server = server
  }

  /** Whether a rule allows something, for which it must return `true`. */
  async allow(name: string, rule: string, ask: (call: ChannelRuleCall) => unknown): Promise<boolean> {
    const verdict = await this.call(name, rule, async (call) => {
      const given = await ask(call)
      if (typeof given !== 'boolean') throw new TypeError('it returned neither true nor false')
      return given
    })
    return verdict === true
  }

  /** Returns the result of a function; `undefined` if it has failed. */
  async call<Result>(
    name: string,
    option: string,
    ask: (call: ChannelRuleCall) => Promise<Result>,
  ): Promise<Result | undefined> {
    const call = new Call()
    const what = `the option ${option} of the channel "${name}"`
    try {
      const run = () => inServer(this.#server, () => ask(call))
      return (await runInTime({ call, timeout: this.#timeout, what, run })) as Result
    } catch (error) {
      this.failed(name, option, error)
      return undefined
    }
  }

  failed(name: string, option: string, error: unknown): void {
    const message = `the option ${option} of the channel "${name}" has failed, so access is denied`
    this.#log.error({ err: error, channel: name }, message)
  }
}
