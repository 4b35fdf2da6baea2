import type { Logger } from '../../kernel/index.ts'
import { describedError } from '../shared/failures/described-error.ts'
import { runInTime } from '../shared/work/attempt.ts'
import { inServer } from '../shared/work/contexts.ts'
import { Call } from '../shared/work/running.ts'
import type { ChannelRuleCall } from './declared.ts'

const isRefusal = (error: unknown): boolean => {
  const described = describedError(error)
  return described?.exposes === true && described.status < 500
}

/** Calls the functions among the options of channels. They fail closed: after an error, a rejection or a timeout, the client is refused. */
export function rulesOf(timeout: number, log: Logger, server: object) {
  const failed = (name: string, option: string, error: unknown): void => {
    const denies = option === 'onLeave' ? '' : ', so access is denied'
    const message = `the option ${option} of the channel "${name}" has failed${denies}`
    log.error({ err: error, channel: name }, message)
  }

  /** Returns the result of a function; `undefined` if it has failed. */
  async function call<Result>(
    name: string,
    option: string,
    ask: (call: ChannelRuleCall) => Promise<Result>,
  ): Promise<Result | undefined> {
    const call = new Call()
    const what = `the option ${option} of the channel "${name}"`
    try {
      return (await runInTime({ call, timeout }, what, () => inServer(server, () => ask(call)))) as Result
    } catch (error) {
      failed(name, option, error)
      return undefined
    }
  }

  /** Whether a rule allows something, for which it must return `true`. An error for the client that it throws is thrown. */
  async function allow(name: string, rule: string, ask: (call: ChannelRuleCall) => unknown): Promise<boolean> {
    let refusal: unknown
    const verdict = await call(name, rule, async (one) => {
      try {
        const given = await ask(one)
        if (typeof given === 'boolean') return given
      } catch (error) {
        if (!isRefusal(error)) throw error
        refusal = error
        return false
      }
      throw new TypeError('it returned neither true nor false')
    })
    if (refusal !== undefined) throw refusal
    return verdict === true
  }

  return { allow, call, failed }
}

export type Rules = ReturnType<typeof rulesOf>
