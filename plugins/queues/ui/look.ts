import { isFrameworkError, type Logger, systemClock, within } from '../../../kernel/index.ts'
import type { QueueCounts } from '../../shared/engines/contract.ts'
import { withoutPrefix } from '../../shared/failures/described-error.ts'
import { redactText } from '../../shared/values/redact-text.ts'
import { messageOf } from '../../shared/values/safely.ts'
import type { QueueService } from '../service.ts'

/** What an engine has returned, or why it has not. */
export type Look<Value> =
  | { readonly value: Value; readonly trouble?: undefined }
  | { readonly value?: undefined; readonly trouble: string; readonly status: number }

/** How long a page waits for an engine whose own `publishTimeout` is longer, in milliseconds. */
const patience = 6000

/** Asks an engine: that it does not respond, or cannot do something, is part of the page. `ms`: how long; `null` for as long as it takes. */
export async function look<Value>(
  work: () => Promise<Value>,
  log: Logger,
  ms: number | null = patience,
): Promise<Look<Value>> {
  const late = () => ({ trouble: `The engine did not respond within ${ms} ms.`, status: 503 })
  try {
    const value = (async () => ({ value: await work() }))()
    return await (ms === null ? value : within(value, ms, late, systemClock))
  } catch (error) {
    // The message of a driver may contain the address of its engine, with a password.
    const why = redactText(messageOf(error))
    if (isFrameworkError(error))
      return { trouble: withoutPrefix(error.code, why), status: error.code === 'QueueUnavailableError' ? 503 : 409 }
    log.error({ err: error }, 'the page of the queues: an engine has refused a call')
    return { trouble: `The engine has refused this: ${why}`, status: 500 }
  }
}

/** A queue at a glance. */
export interface QueueSummary {
  readonly name: string
  readonly kind: string
  readonly counts: Look<QueueCounts>
  /** `undefined` if the engine does not say. */
  readonly isPaused: boolean | undefined
  /** How many subscribers this process has. */
  readonly subscribers: number
}

export async function summaryOf(
  service: QueueService,
  { name, kind }: { readonly name: string; readonly kind: string },
  log: Logger,
): Promise<QueueSummary> {
  const [counts, paused] = await Promise.all([
    look(() => service.of(name).counts(), log),
    look(() => service.of(name).isPaused(), log),
  ])
  const subscribers = service.subscribers().filter((one) => one.queue === name && one.kind === kind).length
  return { name, kind, counts, isPaused: paused.value, subscribers }
}

/** Those with trouble first, so that it is seen at a glance. */
export function byTrouble(one: QueueSummary, other: QueueSummary): number {
  const rank = ({ counts, isPaused }: QueueSummary) =>
    counts.value === undefined ? 0 : counts.value.failed > 0 ? 1 : isPaused ? 2 : 3
  return rank(one) - rank(other) || one.name.localeCompare(other.name)
}
