import type { Hook } from '../plugin/hooks.ts'
import type { Adapter } from '../runtime/adapter.ts'
import { defineError } from '../support/errors.ts'
import type { Logger } from '../support/logger.ts'
import { isInTime } from '../support/within.ts'
import { tracePlugin } from './plugin-trace.ts'

export const CloseHookTimeoutError = defineError(
  'CloseHookTimeoutError',
  500,
  (plugin: string, ms: number) => `the close hook of the plugin "${plugin}" did not settle within ${ms} ms`,
)
export const CloseHookError = defineError(
  'CloseHookError',
  500,
  (plugin: string, why: string) => `the close hook of the plugin "${plugin}" failed: ${why}`,
)

/** What closing needs. */
export interface ShutdownParts {
  readonly adapter: Adapter | undefined
  readonly hooks: readonly Hook<'onClose'>[]
  readonly closeTimeout: number
  readonly drainWindow: number
  readonly logger: Logger
  /** From now on, answers have the header `Connection: close`. */
  startDraining(): void
  /** Refuses new requests from now on; resolves when those in progress are done. */
  stopIntake(): Promise<void>
}

/** How long kept-alive connections may send one more request after the listener was closed. */
const lastRequestsMs = 1000

/**
 * The part of the closing time that is reserved for hooks: without it, when a request hung, each hook had 20 ms left, in which
 * no queue can return its messages and no mail can be sent.
 */
const hooksPart = 0.25

/** The part of a hook's time that it receives as `timeLeft`: its own waits should time out before the hook does. */
const announcedPart = 0.9

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * Closes in phases: drain window, no more intake, work in progress, close hooks in reverse; with a deadline for each
 * hook and for the whole. Returns every error. Requests that hang have until the deadline; the hooks run during the last part of
 * that time.
 *
 * Nothing changes within the window, so that load balancers stop sending without errors. Only then does the listener close and
 * do answers have `Connection: close`. Measured with 40 clients: asking them to leave while the listener still accepted connections
 * made them all connect again, and up to 28 of those connections were reset when it closed; in this order, none was.
 */
export async function shutDown(parts: ShutdownParts): Promise<Error[]> {
  const start = performance.now()
  const left = () => parts.closeTimeout - (performance.now() - start)
  const { adapter } = parts
  if (adapter !== undefined) {
    const end = Math.min(parts.drainWindow, parts.closeTimeout / 2)
    while (adapter.connections() > 0 && performance.now() - start < end) await pause(Math.min(20, end))
  }
  parts.startDraining()
  const stopped = adapter?.stop()
  // Requests that were accepted before the listener closed still get their answers.
  if (stopped !== undefined) await isInTime(stopped, Math.min(lastRequestsMs, Math.max(0, left())))
  const answered = Promise.all([parts.stopIntake(), stopped])
  const reserved = parts.hooks.length === 0 ? 0 : parts.closeTimeout * hooksPart
  const inTime = await isInTime(answered, Math.max(0, left() - reserved))
  const cutAtDeadline = async () => {
    if (inTime || (await isInTime(answered, Math.max(0, left())))) return
    const cut = adapter?.cut() ?? 0
    parts.logger.warn(
      { connections: cut },
      `closing took longer than ${parts.closeTimeout} ms: ${cut} connections were cut`,
    )
  }
  const [errors] = await Promise.all([runCloseHooks(parts, left), cutAtDeadline()])
  return errors
}

async function runCloseHooks(parts: ShutdownParts, left: () => number): Promise<Error[]> {
  const errors: Error[] = []
  const hooks = [...parts.hooks].reverse()
  for (const [index, { run, entry }] of hooks.entries()) {
    // Half of the remaining time, so that hung hooks leave time for all others; after the deadline each still gets a moment.
    const share = index === hooks.length - 1 ? left() : left() / 2
    const limit = Math.round(Math.max(20, Math.min(parts.closeTimeout / 2, share)))
    const start = performance.now()
    try {
      const closing = tracePlugin(entry, 'close', () => run(Math.floor(limit * announcedPart)))
      if (!(await isInTime(Promise.resolve(closing), limit))) throw CloseHookTimeoutError(entry.name, limit)
    } catch (error) {
      const known = (error as { code?: unknown } | null)?.code === CloseHookTimeoutError.code
      const why = error instanceof Error ? error.message : String(error)
      errors.push(known ? (error as Error) : Object.assign(CloseHookError(entry.name, why), { cause: error }))
    } finally {
      entry.times.close += performance.now() - start
    }
  }
  return errors
}
