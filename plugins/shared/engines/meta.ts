import { type Carrier, carrierOf } from '../work/carrier.ts'

/** The time between attempts: see `Backoff`. */
export interface BackoffSettings {
  readonly type: 'fixed' | 'exponential'
  readonly delay: number
  readonly jitter: number
}

/** What is stored with a message beside its payload, for all attempts; handlers do not see it. */
export interface Meta extends Carrier {
  /** The id that its publisher chose, which the engine may know under another name. */
  id?: string
  /** The id of the tenant whose message it is. */
  tenant?: string
  /** The queue of the members below: its dead letter queue has a copy of the message, about which they say nothing. */
  queue?: string
  /** The version of the payload; without it, 1. */
  version?: number
  /** When it is given up if it has not been handled: milliseconds since 1970. */
  expires?: number
  /** The time limit of an attempt, in milliseconds. */
  timeout?: number
  /** The number of attempts, and the time between them, for an engine that cannot store them itself. */
  attempts?: number
  backoff?: BackoffSettings
}

const isCount = (given: unknown) => typeof given === 'number' && Number.isFinite(given) && given > 0

/** The valid part of what arrives with a message, in `queue` if it is given: any client that writes to the engine can set it. */
export function metaOf(given: unknown, queue?: string): Readonly<Meta> {
  if (typeof given !== 'object' || given === null) return {}
  const { id, tenant, queue: origin, version, expires, timeout, attempts, backoff } = given as Meta
  const meta: Meta = { ...carrierOf(given) }
  if (typeof id === 'string' && id !== '') meta.id = id
  // Also a wrong one, with which the attempt fails: without it, the message would be application-wide. An id has at most 64 characters.
  if (tenant !== undefined && tenant !== null) meta.tenant = typeof tenant === 'string' ? tenant.slice(0, 65) : ''
  if (isCount(version)) meta.version = version
  if (typeof origin === 'string') meta.queue = origin
  if (queue !== undefined && (meta.queue ?? queue) !== queue) return meta
  for (const [name, value] of Object.entries({ expires, timeout, attempts }))
    if (isCount(value)) Object.assign(meta, { [name]: value })
  if (isCount(backoff?.delay)) meta.backoff = backoffOf(backoff!)
  return meta
}

function backoffOf({ type, delay, jitter }: BackoffSettings): BackoffSettings {
  const isShare = isCount(jitter) && jitter <= 1
  return { type: type === 'exponential' ? type : 'fixed', delay, jitter: isShare ? jitter : 0 }
}

/** Milliseconds between an attempt that has failed and the next. */
export function pauseAfter(attempt: number, backoff: BackoffSettings | undefined): number {
  if (backoff === undefined) return 0
  const { type, delay, jitter } = backoff
  // A timer accepts no longer delay: it would fire immediately.
  const full = type === 'exponential' ? Math.min(delay * 2 ** (attempt - 1), 2_147_483_647) : delay
  return jitter === 0 ? full : full * (1 - jitter * Math.random())
}
