import { clock } from '../../../kernel/index.ts'
import type { HandedOver, HandoverWriter } from '../../shared/environment/handover.ts'
import { LruMap } from '../../shared/values/lru.ts'
import type { TextStore } from './contract.ts'

/** Sessions in the memory of this process: lost when it ends, not shared with other processes, and bounded. */
export class MemoryStore implements TextStore {
  readonly isPrivate = true
  readonly #entries: LruMap<string>
  readonly #writer: HandoverWriter | undefined

  /**
   * `onFull` is called once, when the first unexpired session is dropped for lack of room. The result of `handOver` keeps the
   * sessions for the next process.
   */
  constructor(
    max: number,
    onFull: () => void = () => {},
    handOver: (restore: (entries: HandedOver) => void) => HandoverWriter | undefined = () => undefined,
  ) {
    let isReported = false
    this.#entries = new LruMap({
      max,
      // Wall-clock time, as in Redis.
      now: () => clock.now(),
      onDrop: (_text, id, why) => {
        if (why !== 'replaced') this.#writer?.delete(id)
        if (why !== 'evicted' || isReported) return
        isReported = true
        onFull()
      },
    })
    this.#writer = handOver((entries) => {
      for (const [id, text, until] of entries) this.#entries.set(id, text, Math.max(1, until - clock.now()))
    })
  }

  /** The sessions that have not ended, without their data; `end` is in milliseconds since 1970. Listing does not count as use. */
  *sessions() {
    for (const { key, value, end } of this.#entries.entries()) yield { id: key, bytes: Buffer.byteLength(value), end }
  }

  get(id: string): string | undefined {
    return this.#entries.get(id)
  }

  set(id: string, text: string, ttlSeconds: number): void {
    const ttl = ttlSeconds * 1_000
    this.#entries.set(id, text, ttl)
    this.#writer?.set(id, text, clock.now() + ttl)
  }

  update(id: string, text: string, ttlSeconds: number): boolean {
    const isThere = this.#entries.has(id)
    if (isThere) this.set(id, text, ttlSeconds)
    return isThere
  }

  destroy(id: string): boolean {
    return this.#entries.delete(id)
  }

  touch(id: string, ttlSeconds: number): boolean {
    const text = this.#entries.get(id)
    if (text !== undefined) this.set(id, text, ttlSeconds)
    return text !== undefined
  }
}
