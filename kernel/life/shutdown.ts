import type { ContextHost } from '../plugin/context.ts'
import type { PluginEntry } from '../plugin/scope.ts'
import type { Adapter } from '../runtime/adapter.ts'
import { systemClock } from '../support/clock.ts'
import { defineErrors, messageOf } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { isInTime } from '../support/within.ts'

export const { CloseHookTimeoutError, CloseHookError } = defineErrors({
  CloseHookTimeoutError: (plugin: string, ms: number) =>
    `the close hook of the plugin "${plugin}" did not settle within ${ms} ms`,
  CloseHookError: (phase: string, plugin: string, why: string) =>
    `the ${phase} hook of the plugin "${plugin}" failed: ${why}`,
})

/** What closing changes and waits for. */
export interface ShutdownParts {
  readonly state: LifeState
  readonly adapter: Adapter | undefined
  /** Called when responses begin to have the header `Connection: close`. */
  startDraining(): void
  /** Resolves when the requests in progress are done. */
  idle(): Promise<void>
}

/** How long kept-alive connections may send one more request after the listener was closed. */
const lastRequestsMs = 1000

/**
 * The part of the closing time that is reserved for close hooks: without it, when a request or a job hung, each hook had 20 ms left, in
 * which no queue can return its messages and no pool can be closed. It is small, because work is finished in drain hooks.
 */
const reservedOf = (closeTimeout: number) => Math.max(closeTimeout / 10, Math.min(1000, closeTimeout / 4))

/** The part of a hook's time that it receives as `timeLeft`: its own waits should time out before the hook does. */
const announcedPart = 0.9

/**
 * Closes in phases: drain window, no more intake, requests and drain hooks side by side, close hooks in reverse; with a deadline for each
 * hook and for the whole. Returns every error. Requests that hang have until the deadline; the close hooks run during the last part of
 * that time.
 *
 * Nothing changes within the window, so that load balancers stop sending without errors. Only then does the listener close and
 * do responses have `Connection: close`. Measured with 40 clients: asking them to leave while the listener still accepted connections
 * made them all connect again, and up to 28 of those connections were reset when it closed; in this order, none was.
 */
export async function shutDown(host: ContextHost, parts: ShutdownParts): Promise<Error[]> {
  const { state, adapter } = parts
  const { closeTimeout, drainWindow } = host.server.settings
  const start = systemClock.monotonic()
  const left = (reserved = 0) => Math.max(0, closeTimeout - reserved - (systemClock.monotonic() - start))
  while (adapter !== undefined && adapter.connections() > 0 && systemClock.monotonic() - start < drainWindow)
    await systemClock.sleep(Math.min(20, drainWindow))
  state.draining = true
  parts.startDraining()
  const errors: Error[] = []
  const reserved = host.lifeCycle.onClose.length === 0 ? 0 : reservedOf(closeTimeout)
  const drained = runDrainHooks(host, state, left(reserved), errors)
  const stopped = adapter?.stop()
  // Requests that were accepted before the listener closed still get their responses.
  if (stopped !== undefined) await isInTime(stopped, Math.min(lastRequestsMs, left()), systemClock)
  state.refusing = true
  const responded = Promise.all([parts.idle(), stopped])
  const [inTime] = await Promise.all([isInTime(responded, left(reserved), systemClock), drained])
  const cutAtDeadline = async () => {
    if (inTime || (await isInTime(responded, left(), systemClock))) return
    const cut = adapter?.cut() ?? 0
    const what = `closing took longer than ${closeTimeout} ms: ${cut} connections were cut`
    host.server.safeLogger.warn({ connections: cut }, what)
  }
  await Promise.all([runCloseHooks(host, left, errors), cutAtDeadline()])
  return errors
}

/** Calls all of them at once, since each waits for work that takes its time; in reverse, so that consumers stop before what they feed. */
async function runDrainHooks(host: ContextHost, state: LifeState, ms: number, errors: Error[]): Promise<void> {
  const limit = Math.round(ms)
  const running = [...host.lifeCycle.onDrain].reverse().map(async ({ run, entry }) => {
    if (await settles('drain', entry, limit, run, errors)) return
    state.abandoned = true
    host.server.safeLogger.warn(
      { plugin: entry.name },
      `the plugin "${entry.name}" was still working ${limit} ms after it was asked to drain: closing no longer waits for it. Raise closeTimeout, or end the work when server.closing aborts`,
    )
  })
  await Promise.all(running)
}

async function runCloseHooks({ server, lifeCycle }: ContextHost, left: () => number, errors: Error[]): Promise<void> {
  const hooks = [...lifeCycle.onClose].reverse()
  for (const [index, { run, entry }] of hooks.entries()) {
    // Half of the remaining time, so that hung hooks leave time for all others; after the deadline each still gets a moment.
    const share = index === hooks.length - 1 ? left() : left() / 2
    const limit = Math.round(Math.max(20, Math.min(server.settings.closeTimeout / 2, share)))
    const call = () => run(Math.floor(limit * announcedPart))
    if (!(await settles('close', entry, limit, call, errors))) errors.push(CloseHookTimeoutError(entry.name, limit))
  }
}

/** Runs one hook; whether it has settled in time, even by an error. */
async function settles(
  phase: 'drain' | 'close',
  entry: PluginEntry,
  limit: number,
  run: () => unknown,
  errors: Error[],
): Promise<boolean> {
  const start = systemClock.monotonic()
  try {
    return await isInTime(Promise.resolve(entry.trace(phase, run)), limit, systemClock)
  } catch (error) {
    errors.push(Object.assign(CloseHookError(phase, entry.name, messageOf(error)), { cause: error }))
    return true
  } finally {
    entry.times[phase] += systemClock.monotonic() - start
  }
}
