import { randomBytes } from 'node:crypto'
import { clock, type Timer } from '../../../kernel/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import {
  type Bus,
  type BusEvents,
  type Entry,
  emptyReplay,
  type Keeping,
  nothingYet,
  type PresentClient,
  partsOf,
  type Replay,
} from './contract.ts'

/**
 * Maximum number of channels without clients whose history is kept. A dropped channel begins another epoch, which clients see as a gap.
 * Channels with clients are never dropped: otherwise, beyond this number of channels, each message would be a gap.
 */
const maxIdle = 10_000

/** Maximum number of bytes that the histories of those channels keep together. */
const mostBytes = 64 * 2 ** 20

/** Milliseconds between two removals of expired messages in channels without activity. */
const sweepMs = 30_000

interface History {
  readonly epoch: string
  number: number
  removedAt: number
  bytes: number
  readonly kept: { readonly entry: Entry; readonly end: number }[]
}

/** Carries the messages of one server, in the memory of its process. */
export class MemoryBus implements Bus {
  readonly key = `memory ${randomBytes(8).toString('hex')}`
  readonly #idle = new LruMap<History>({
    max: maxIdle,
    maxSize: mostBytes,
    sizeOf: ({ bytes }) => Math.min(bytes, mostBytes),
  })
  readonly #used = new Map<string, History | undefined>()
  readonly #present = new Map<string, Map<string, PresentClient>>()
  #events: BusEvents | undefined
  #timer: Timer | undefined

  async open(events: BusEvents): Promise<void> {
    this.#events = events
    this.#timer = clock.setInterval(() => this.#sweep(), sweepMs)
    this.#timer.unref()
  }

  async subscribe(name: string): Promise<void> {
    this.#used.set(name, this.#find(name))
    this.#idle.delete(name)
  }

  async unsubscribe(name: string): Promise<void> {
    const history = this.#used.get(name)
    this.#used.delete(name)
    if (history !== undefined) this.#idle.set(name, history)
  }

  async publish(name: string, message: Omit<Entry, 'id'>, { messages, bytes, ms }: Keeping): Promise<string> {
    const history = this.#find(name) ?? this.#begin(name)
    history.number++
    const now = clock.monotonic()
    if (message.kind === 'remove') history.removedAt = now
    const entry = { ...message, id: `${history.epoch}-${history.number}` }
    const { kept } = history
    if (messages > 0) {
      kept.push({ entry, end: now + ms })
      history.bytes += Buffer.byteLength(entry.body)
    }
    while (kept.length > messages || history.bytes > bytes) forget(history, 1)
    // Its size has changed.
    if (this.#idle.has(name)) this.#idle.set(name, history)
    if (this.#used.has(name)) this.#events?.entry(name, entry)
    return entry.id
  }

  async after(name: string, id?: string): Promise<Replay> {
    const history = this.#find(name)
    if (history === undefined) return emptyReplay(nothingYet, id)
    const { epoch, number, kept, removedAt } = history
    const now = clock.monotonic()
    const rest = { last: `${epoch}-${number}`, removedMs: now - removedAt }
    if (id === undefined) return { entries: [], isComplete: true, ...rest }
    forgetUntil(history, now)
    const seen = id === nothingYet ? { epoch, number: 0 } : partsOf(id)
    if (seen?.epoch !== epoch || seen.number > number) return { entries: [], isComplete: false, ...rest }
    const missed = kept.map((one) => one.entry).filter((entry) => partsOf(entry.id)!.number > seen.number)
    return { entries: missed, isComplete: missed.length === number - seen.number, ...rest }
  }

  #find(name: string): History | undefined {
    return this.#used.get(name) ?? this.#idle.get(name)
  }

  #begin(name: string): History {
    const epoch = randomBytes(6).toString('hex')
    const history: History = { epoch, number: 0, removedAt: Number.NEGATIVE_INFINITY, bytes: 0, kept: [] }
    if (this.#used.has(name)) this.#used.set(name, history)
    else this.#idle.set(name, history)
    return history
  }

  #sweep(): void {
    const now = clock.monotonic()
    for (const history of this.#used.values()) if (history !== undefined) forgetUntil(history, now)
    for (const history of this.#idle.values()) forgetUntil(history, now)
  }

  async enter(name: string, present: PresentClient): Promise<void> {
    madeIn(this.#present, name, () => new Map<string, PresentClient>()).set(present.id, present)
    this.#events?.present(name, present.id, present)
  }

  async exit(name: string, id: string): Promise<void> {
    const all = this.#present.get(name)
    if (all?.delete(id) !== true) return
    if (all.size === 0) this.#present.delete(name)
    this.#events?.present(name, id, undefined)
  }

  async present(name: string): Promise<readonly PresentClient[]> {
    return [...(this.#present.get(name)?.values() ?? [])]
  }

  async close(): Promise<void> {
    clock.clear(this.#timer)
    this.#events = undefined
    this.#present.clear()
  }
}

function forget(history: History, count: number): void {
  for (const { entry } of history.kept.splice(0, count)) history.bytes -= Buffer.byteLength(entry.body)
}

function forgetUntil(history: History, now: number): void {
  const rest = history.kept.findIndex(({ end }) => end > now)
  forget(history, rest === -1 ? history.kept.length : rest)
}
