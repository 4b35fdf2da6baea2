import { randomBytes } from 'node:crypto'

/** The kinds of work that are kept, each in a list of its own. */
export const kinds = [
  'request',
  'publish',
  'attempt',
  'cron',
  'mail',
  'storage',
  'mqtt',
  'websocket',
  'channel',
  'graphql',
  'cache',
  'log',
] as const
export type Kind = (typeof kinds)[number]

/** A part of some work: a step of the chain, the handler, a resolver. */
export interface Mark {
  readonly name: string
  /** Milliseconds after the work has begun. */
  readonly at: number
  /** How long it took; without it: until the next one. */
  ms?: number
  failed?: boolean
}

/** One piece of work, as the page sees it. */
export interface Activity {
  readonly id: number
  readonly kind: Kind
  title: string
  /** What belongs together has one: a request, its jobs, their mails. */
  trace: string
  parent: number | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  ms: number | undefined
  outcome: 'running' | 'ok' | 'failed'
  /** One line more for lists. */
  note: string
  error: unknown
  readonly marks: Mark[]
  marksLeftOut: number
  readonly data: Record<string, unknown>
}

/** What is said of a piece of work when it begins. */
export type Begun = Pick<Activity, 'kind' | 'title'> &
  Partial<Pick<Activity, 'data' | 'note' | 'parent'>> & { readonly trace?: string | undefined }

// Ids of this process, in the form that W3C trace context has.
const prefix = randomBytes(8).toString('hex')
const hex = (id: number, length: number) => id.toString(16).padStart(length, '0')

/** Data that goes with a message, by which its receiver knows where it comes from. */
export const traceparentOf = ({ trace, id }: Activity): string => `00-${trace}-${prefix.slice(0, 8)}${hex(id, 8)}-00`

/** The trace that such a text names. */
export const traceOf = (traceparent: string | undefined): string | undefined =>
  /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent ?? '')?.[1]

const mostMarks = 200
/** What one piece of work without data is counted as. */
const base = 512
const ofMark = 64

/**
 * The last pieces of work of each kind. Their number is bounded, and so are the bytes of all of them: whatever an application does, a server
 * that is looked at for a week needs no more memory than after an hour.
 */
export class Activities {
  readonly keep: number
  readonly #maxBytes: number
  readonly #lists = new Map<Kind, Map<number, Activity>>(kinds.map((kind) => [kind, new Map()]))
  readonly #sizes = new Map<number, number>()
  readonly #begun = new WeakMap<Activity, number>()
  #bytes = 0
  #count = 0
  /** Called with whatever is new or has changed. */
  onChange: (activity: Activity) => void = () => {}

  constructor(keep: number, maxBytes: number) {
    this.keep = keep
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  begin({ kind, title, data = {}, note = '', trace, parent }: Begun, from: Activity | undefined, size = 0): Activity {
    const id = ++this.#count
    const activity: Activity = {
      id,
      kind,
      title,
      trace: trace ?? from?.trace ?? prefix + hex(id, 16),
      parent: parent ?? from?.id,
      at: Date.now(),
      ms: undefined,
      outcome: 'running',
      note,
      error: undefined,
      marks: [],
      marksLeftOut: 0,
      data,
    }
    this.#begun.set(activity, performance.now())
    this.#lists.get(kind)!.set(id, activity)
    this.grow(activity, base + size)
    this.onChange(activity)
    return activity
  }

  /** Milliseconds since it has begun. */
  since(activity: Activity): number {
    return performance.now() - this.#begun.get(activity)!
  }

  end(activity: Activity, outcome: 'ok' | 'failed' = 'ok'): void {
    activity.ms ??= this.since(activity)
    activity.outcome = activity.outcome === 'failed' ? 'failed' : outcome
    this.onChange(activity)
  }

  /** Something that happens in one moment. */
  add(begun: Begun, from: Activity | undefined, size = 0): Activity {
    const activity = this.begin(begun, from, size)
    activity.ms = 0
    activity.outcome = 'ok'
    return activity
  }

  mark(activity: Activity, name: string): Mark | undefined {
    if (activity.marks.length >= mostMarks) {
      activity.marksLeftOut++
      return undefined
    }
    const mark: Mark = { name, at: this.since(activity) }
    activity.marks.push(mark)
    this.grow(activity, ofMark)
    return mark
  }

  /** Counts bytes that are kept for it, and drops the oldest of all where they are too many. */
  grow(activity: Activity, bytes: number): void {
    const list = this.#lists.get(activity.kind)!
    if (!list.has(activity.id)) return
    this.#sizes.set(activity.id, (this.#sizes.get(activity.id) ?? 0) + bytes)
    this.#bytes += bytes
    while (list.size > this.keep) this.#drop(list)
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = [...this.#lists.values()].filter(({ size }) => size > 0).sort((a, b) => firstOf(a) - firstOf(b))
      if (oldest === undefined) return
      this.#drop(oldest)
    }
  }

  #drop(list: Map<number, Activity>): void {
    const id = firstOf(list)
    list.delete(id)
    this.#bytes -= this.#sizes.get(id) ?? 0
    this.#sizes.delete(id)
  }

  /** The newest first. */
  list(kind: Kind): Activity[] {
    return [...this.#lists.get(kind)!.values()].reverse()
  }

  find(id: number): Activity | undefined {
    for (const list of this.#lists.values()) {
      const found = list.get(id)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Everything of one trace, in the order in which it has begun. */
  ofTrace(trace: string): Activity[] {
    const all = [...this.#lists.values()].flatMap((list) => [...list.values()].filter((one) => one.trace === trace))
    return all.sort((a, b) => a.id - b.id)
  }

  counts(): Record<Kind, number> {
    return Object.fromEntries([...this.#lists].map(([kind, { size }]) => [kind, size])) as Record<Kind, number>
  }

  clear(): void {
    for (const list of this.#lists.values()) list.clear()
    this.#sizes.clear()
    this.#bytes = 0
  }
}

const firstOf = (list: Map<number, Activity>): number => list.keys().next().value ?? Number.POSITIVE_INFINITY
