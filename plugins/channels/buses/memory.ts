import { randomBytes } from 'node:crypto'
import { LruMap } from '../../toolkit/lru.ts'
import { type Bus, type BusEvents, type Entry, type Keeping, type Present, partsOf, type Replay } from './contract.ts'

/** Channels whose history is kept. What is forgotten for want of room begins another epoch, which clients see as a gap. */
const maxChannels = 10_000

interface History {
  readonly epoch: string
  number: number
  readonly kept: { readonly entry: Entry; readonly end: number }[]
}

/** Channels of one server, in the memory of its process. */
export class MemoryBus implements Bus {
  readonly key: string
  readonly #histories = new LruMap<History>({ max: maxChannels })
  readonly #present = new Map<string, Map<string, Present>>()
  readonly #subscribed = new Set<string>()
  #events: BusEvents | undefined

  constructor() {
    this.key = `memory ${randomBytes(8).toString('hex')}`
  }

  async open(events: BusEvents): Promise<void> {
    this.#events = events
  }

  async subscribe(name: string): Promise<void> {
    this.#subscribed.add(name)
  }

  async unsubscribe(name: string): Promise<void> {
    this.#subscribed.delete(name)
  }

  async publish(name: string, message: Omit<Entry, 'id'>, { messages, ms }: Keeping): Promise<string> {
    const history = this.#historyOf(name)
    history.number++
    const entry = { ...message, id: `${history.epoch}-${history.number}` }
    const { kept } = history
    if (messages > 0) kept.push({ entry, end: performance.now() + ms })
    if (kept.length > messages) kept.splice(0, kept.length - messages)
    if (this.#subscribed.has(name)) this.#events?.entry(name, entry)
    return entry.id
  }

  async after(name: string, id?: string): Promise<Replay> {
    const { epoch, number, kept } = this.#historyOf(name)
    const last = `${epoch}-${number}`
    if (id === undefined) return { entries: [], isComplete: true, last }
    const now = performance.now()
    while (kept.length > 0 && kept[0]!.end <= now) kept.shift()
    const entries = kept.map((one) => one.entry)
    const seen = partsOf(id)
    if (seen?.epoch !== epoch || seen.number > number) return { entries, isComplete: false, last }
    const missed = entries.filter((entry) => partsOf(entry.id)!.number > seen.number)
    return { entries: missed, isComplete: missed.length === number - seen.number, last }
  }

  #historyOf(name: string): History {
    let history = this.#histories.get(name)
    if (history === undefined) {
      history = { epoch: randomBytes(6).toString('hex'), number: 0, kept: [] }
      this.#histories.set(name, history)
    }
    return history
  }

  async enter(name: string, present: Present): Promise<void> {
    const all = this.#present.get(name) ?? new Map<string, Present>()
    this.#present.set(name, all)
    all.set(present.id, present)
    this.#events?.present(name, present.id, present)
  }

  async exit(name: string, id: string): Promise<void> {
    const all = this.#present.get(name)
    if (all?.delete(id) !== true) return
    if (all.size === 0) this.#present.delete(name)
    this.#events?.present(name, id, undefined)
  }

  async present(name: string): Promise<readonly Present[]> {
    return [...(this.#present.get(name)?.values() ?? [])]
  }

  async close(): Promise<void> {
    this.#events = undefined
    this.#present.clear()
  }
}
