import type { Logger } from '../../kernel/index.ts'
import { describedError } from '../shared/failures/described-error.ts'
import { inTenant } from '../shared/values/tenants.ts'
import { runInTime } from '../shared/work/attempt.ts'
import { inServer } from '../shared/work/contexts.ts'
import { Call } from '../shared/work/running.ts'
import type { ChannelClient, ChannelOptions } from './declared.ts'
import type { Member } from './room.ts'

const isRefusal = (error: unknown): boolean => {
  const described = describedError(error)
  return described?.exposes === true && described.status < 500
}

type AnyRule = (client: ChannelClient, ...more: unknown[]) => unknown

/** Calls the functions among the options of channels. They fail closed: after an error, a rejection or a timeout, the client is refused. */
export function rulesOf(timeout: number, log: Logger, server: object) {
  const failed = (name: string, option: keyof ChannelOptions<string, unknown>, error: unknown): void => {
    const denies = option === 'onLeave' ? '' : ', so access is denied'
    const message = `the option ${option} of the channel "${name}" has failed${denies}`
    log.error({ err: error, channel: name }, message)
  }

  /** Calls a function about a client, for the tenant of the client, and returns what `use` makes of its result; `undefined` if one of them has failed. */
  async function call<Result>(
    { joined, name, channel, params }: Member,
    rule: 'join' | 'publish' | 'presence' | 'state' | 'onLeave',
    use: (given: unknown) => Result,
    ...payload: readonly unknown[]
  ): Promise<Result | undefined> {
    const call = new Call()
    const ask = () => (channel.rules[rule] as AnyRule)(joined.client, params, ...payload, call)
    const run = async () => use(await inServer(server, () => inTenant(joined.tenant, ask)))
    try {
      return (await runInTime({ call, timeout }, `the option ${rule} of the channel "${name}"`, run)) as Result
    } catch (error) {
      if (isRefusal(error) && (rule === 'join' || rule === 'publish')) throw error
      failed(name, rule, error)
      return undefined
    }
  }

  /** Whether a rule allows something, for which it must return `true`. An error for the client that it throws is thrown. */
  async function allow(member: Member, rule: 'join' | 'publish', ...payload: readonly unknown[]): Promise<boolean> {
    const isAllowed = (given: unknown) => {
      if (typeof given === 'boolean') return given
      throw new TypeError('it returned neither true nor false')
    }
    return (await call(member, rule, isAllowed, ...payload)) === true
  }

  return { allow, call, failed }
}

export type Rules = ReturnType<typeof rulesOf>
