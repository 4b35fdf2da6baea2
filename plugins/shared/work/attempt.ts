import { AsyncLocalStorage } from 'node:async_hooks'
import { clock, defineErrors, type Logger, type Trace, within } from '../../../kernel/index.ts'
import { option } from '../options/index.ts'
import { inTenant, isTenantId, TenantIdError, tenantLoaders } from '../values/tenants.ts'
import { inServer } from './contexts.ts'
import { Call } from './running.ts'
import type { TransactionSettings } from './transaction-options.ts'
import { outsideTransactions, TransactionPluginError, transactionRunners } from './transactions.ts'

/** The option `timeout` of a handler: milliseconds after which an attempt counts as failed, and its signal aborts. */
export const timeoutOption = option.ms({ min: 1 })

export const { HandlerTimeoutError } = defineErrors({
  HandlerTimeoutError: (what: string, timeout: number, limit = 'the limit') =>
    `${what} has not finished within ${timeout} ms, its time limit. It may continue, but its result is ignored: let it end when its signal aborts, or raise ${limit}`,
})

/** A call of a handler, and its time limit. */
export interface Attempt {
  readonly call: Call
  /** Milliseconds after which it has failed; `undefined`: no limit. */
  readonly timeout: number | undefined
  /** What to raise for more time, if it is not the limit of the handler. */
  readonly limit?: string | undefined
  /** The id of the tenant whose work it is, as a message has it. Any client that writes to the engine can set it. */
  readonly tenant?: string | undefined
}

/** What all attempts of a handler have in common, made once: closures for each of them would take a tenth of the time of a message. */
export interface Attempts<One extends Attempt, Event extends object, Result> {
  readonly trace: Trace<Event>
  /** Describes the attempt to tracing tools; called only if one follows. */
  event(one: One): Event
  /** The handler, for messages. */
  readonly what: string
  /** Calls the handler. */
  run(one: One): unknown
  passed(one: One): Result
  failed(error: unknown, one: One): Result | Promise<Result>
  /** Receives the result outside the context of the attempt, and before its promise has it. */
  over?(result: Result, one: One): void
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** Whether the handler runs in a transaction of the server's database. */
  readonly transaction?: TransactionSettings | false | undefined
  /** Where the ids of `once` count: `queue:orders`. */
  readonly scope?: string
}

/**
 * Calls a handler. With a time limit, a promise that rejects when it has passed; without one, whatever the handler returns.
 *
 * @throws HandlerTimeoutError (as a rejection)
 */
export function runInTime({ call, timeout, limit }: Attempt, what: string, run: () => unknown): unknown {
  if (timeout === undefined) return run()
  const late = () => {
    const error = HandlerTimeoutError(what, timeout, limit)
    call.abort(error)
    throw error
  }
  return within(Promise.resolve(run()), timeout, late, clock)
}

/**
 * Makes one attempt, whichever work it belongs to. Never rejects: its result is that of `passed`, or that of `failed`, which receives
 * the error in the context of the attempt. The log line and the error handler of a failure would lead to no trace otherwise, since the tracing
 * channel has reported the end by then. What a handler does after its time limit is ignored. The clock of a test stands still meanwhile.
 */
export function attempt<One extends Attempt, Event extends object, Result>(
  all: Attempts<One, Event, Result>,
  one: One,
): Promise<Result> {
  // Explicitly none without one: the context of a publisher, or of what has started the worker, is not that of the message.
  const tenant = one.tenant === undefined ? undefined : { id: one.tenant }
  let inAttempt: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined
  const seen = () => {
    inAttempt = AsyncLocalStorage.snapshot()
    return runOne(all, one)
  }
  const now = async () => {
    try {
      await (all.trace.isOn ? all.trace.run(() => all.event(one), seen) : runOne(all, one))
    } catch (error) {
      const failed = () => all.failed(error, one)
      const result = await (inAttempt === undefined ? failed() : inAttempt(failed))
      all.over?.(result, one)
      return result
    }
    const result = all.passed(one)
    all.over?.(result, one)
    return result
  }
  return clock.hold(() => inTenant(tenant, () => outsideTransactions(() => inServer(all.server, now))))
}

type Runs<One extends Attempt> = Pick<
  Attempts<One, object, unknown>,
  'run' | 'what' | 'server' | 'transaction' | 'scope'
>

// Without a time limit, there is no closure for it.
const runOne = <One extends Attempt>(all: Runs<One>, one: One): unknown =>
  one.timeout === undefined ? runForTenant(all, one) : runInTime(one, all.what, () => runForTenant(all, one))

/** Runs it with the whole tenant, which the plugin `tenant` finds by the id. */
function runForTenant<One extends Attempt>(all: Runs<One>, one: One): unknown {
  const { tenant: id } = one
  if (id === undefined) return runInTransaction(all, one)
  // One that is dropped would make it application-wide.
  if (!isTenantId(id)) throw TenantIdError(id)
  const load = tenantLoaders.get(all.server ?? {})
  if (load === undefined) return runInTransaction(all, one)
  return Promise.resolve(load(id)).then((tenant) => inTenant(tenant, () => runInTransaction(all, one)))
}

function runInTransaction<One extends Attempt>(all: Runs<One>, one: One): unknown {
  if (!all.transaction) return all.run(one)
  const { transaction, server = {}, scope = '' } = all
  const runner = transactionRunners.get(server)
  if (runner === undefined) throw TransactionPluginError()
  return runner.begin(() => all.run(one), transaction, one.call.signal, scope)
}

/**
 * Passes a failure to a function of the application, which has the time limit of the attempt: otherwise one that never settles would keep
 * the place of its handler. Returns whether there is one and it has not failed itself, which is logged.
 */
export async function notify(
  handler: (() => unknown) | undefined,
  name: string,
  log: Logger,
  timeout: number | undefined,
): Promise<boolean> {
  try {
    if (handler !== undefined) await runInTime({ call: new Call(), timeout }, name, handler)
    return handler !== undefined
  } catch (error) {
    log.error({ err: error }, `${name} itself failed`)
    return false
  }
}

/** Checks the error handler of a whole process; `setter` is the public name of the function that sets it. */
export function globalHandler<Handler>(setter: string, handler: Handler | undefined): Handler | undefined {
  if (handler !== undefined && typeof handler !== 'function')
    throw new TypeError(`${setter} takes a function, or undefined`)
  return handler
}
