import type { BackoffSettings } from './meta.ts'
import {
  type MemoryPublishSettings,
  type MessageSettings,
  type PgbossTerms,
  type SqsTerms,
  sqsTtl,
} from './publish-options.ts'

/** What the engines call the options of a message, as far as a queue in memory can have them. */
interface Terms extends Partial<Omit<MemoryPublishSettings, 'id' | 'ttl' | 'deadLetter'>>, PgbossTerms, SqsTerms {
  readonly lifo?: boolean
  readonly id?: { readonly ttl?: number }
  readonly deduplication?: { readonly ttl: number }
  readonly messageId?: { readonly value: string; readonly ttl?: number }
}

/** How many attempts a message has if its publisher does not say: pg-boss has a number of its own. */
const usualAttempts = (kind: string) => (kind === 'pgboss' ? 3 : 1)

/**
 * The options of a message of another engine in the terms of a queue in memory, which stands for it in a test. What only says how the engine
 * stores the message is left out.
 */
export function memoryTermsOf(kind: string, { native, meta, ...rest }: MessageSettings, now: number): MessageSettings {
  const { attempts, retryLimit, deadLetter, ...terms } = (native ?? {}) as Terms
  const tries = meta?.attempts ?? attempts ?? (retryLimit === undefined ? usualAttempts(kind) : retryLimit + 1)
  const own: MemoryPublishSettings = {
    attempts: tries,
    backoff: meta?.backoff ?? backoffOf(terms),
    delay: delayOf(terms, now),
    priority: terms.lifo ? -1 : (terms.priority ?? 0) * (kind === 'pgboss' ? -1 : 1),
    ...identityOf(terms, meta?.id),
    deadLetter,
  }
  return { ...rest, native: own, meta }
}

function backoffOf({ backoff, retryDelay, retryBackoff }: Terms): BackoffSettings | undefined {
  if (backoff !== undefined || retryDelay === undefined) return backoff
  return { type: retryBackoff ? 'exponential' : 'fixed', delay: retryDelay * 1000, jitter: 0 }
}

function delayOf({ delay, startAfter, DelaySeconds = 0 }: Terms, now: number): number {
  if (delay !== undefined || startAfter === undefined) return delay ?? DelaySeconds * 1000
  return typeof startAfter === 'number' ? startAfter * 1000 : Math.max(0, new Date(startAfter).getTime() - now)
}

function identityOf(terms: Terms, id: string | undefined): Pick<MemoryPublishSettings, 'id' | 'ttl'> {
  const { messageId, singletonKey = 'singleton', singletonSeconds, MessageDeduplicationId } = terms
  if (singletonSeconds !== undefined) return { id: singletonKey, ttl: singletonSeconds * 1000 }
  if (MessageDeduplicationId !== undefined) return { id: MessageDeduplicationId, ttl: sqsTtl }
  return { id: id ?? messageId?.value, ttl: messageId?.ttl ?? terms.deduplication?.ttl ?? terms.id?.ttl }
}
