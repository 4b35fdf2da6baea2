import { randomBytes } from 'node:crypto'
import { clock, systemClock } from '../../kernel/index.ts'
import type { PanelRowAction, WorkList } from '../shared/work/kind.ts'

/** A part of some work: a step of the chain, the handler, a resolver. */
export interface Mark {
  readonly name: string
  /** Milliseconds after the beginning of the work. */
  readonly at: number
  /** Milliseconds that the part took; if missing, it lasted until the next mark. */
  ms?: number
  failed?: boolean
}

/** An action of a panel, with the plugin of both the panel and the work. */
export type OfferedAction = PanelRowAction & { readonly plugin: string }

/** When it began, and the bytes that are counted for it while it is kept. Not for the page: symbols are not in JSON, and a map for each would take longer. */
const begunAt = Symbol('begunAt')
const counted = Symbol('counted')

/** One piece of work, as the page shows it. */
export interface Activity {
  [begunAt]?: number
  [counted]?: number
  readonly id: number
  /** The id of its list. */
  readonly kind: string
  /** What it counts as in the map: a name that no client has chosen; absent for moments. */
  readonly group?: string
  /** How its details are shown, if not as a list of members. */
  readonly view?: 'email'
  /** What the page offers if it has failed: an action of a panel, by the titles of both, and the row. */
  again?: OfferedAction
  title: string
  /** The trace that connects work which belongs together: a request, its jobs, their emails. */
  trace: string
  parent: number | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  ms: number | undefined
  outcome: 'running' | 'ok' | 'failed'
  /** One further line for lists. */
  note: string
  error: unknown
  readonly marks: Mark[]
  marksLeftOut: number
  readonly data: Record<string, unknown>
}

/** What is known about a piece of work when it begins. */
export type Begun = Pick<Activity, 'kind' | 'title'> &
  Partial<Pick<Activity, 'data' | 'group' | 'note' | 'parent' | 'view'>> & { readonly trace?: string | undefined }

// Ids of this process have the form defined by W3C Trace Context.
const prefix = randomBytes(8).toString('hex')
const hex = (id: number, length: number) => id.toString(16).padStart(length, '0')

/** Returns data that travels with a message, by which its receiver knows where it comes from. */
export const traceparentOf = ({ trace, id }: Activity): string => `00-${trace}-${prefix.slice(0, 8)}${hex(id, 8)}-00`

/** Returns the trace named in such data. */
export const traceOf = (traceparent: string | undefined): string | undefined =>
  /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent ?? '')?.[1]

/** Ids of this process are smaller. */
export const firstForeignId = 2 ** 32

const maxMarks = 200
/** Bytes that are counted for one piece of work without data. */
const base = 512
const ofMark = 64

const byTime = (one: Activity, other: Activity) => one.at - other.at || one.id - other.id

/**
 * The last pieces of work of each kind. Their number and their total bytes are limited: whatever an application does, a server that is
 * inspected for a week needs no more memory than after an hour.
 */
export class Activities {
  readonly keep: number
  readonly #maxBytes: number
  /** The oldest first. */
  readonly #lists = new Map<string, Activity[]>()
  readonly #titles = new Map<string, string>()
  bytes = 0
  /** Ids of a later process are larger: what the previous version has recorded keeps its addresses. */
  #count = systemClock.now() % 0x8000_0000
  /** Called with each activity that is new or has changed. */
  onChange: (activity: Activity) => void = () => {}
  onClear: () => void = () => {}

  constructor(keep: number, maxBytes: number) {
    this.keep = keep
    this.#maxBytes = maxBytes
    this.addList({ id: 'request', title: 'Requests' })
    this.addList({ id: 'outgoing', title: 'Outgoing requests' })
    this.addList({ id: 'log', title: 'Log' })
  }

  addList({ id, title }: WorkList): void {
    if (this.#lists.has(id)) return
    this.#lists.set(id, [])
    this.#titles.set(id, title)
  }

  /** The lists in the order of the page: requests first, the log last. */
  get titles(): { readonly [id: string]: string } {
    const { log, ...others } = Object.fromEntries(this.#titles)
    return { ...others, log: log! }
  }

  begin(begun: Begun, from: Activity | undefined, size = 0): Activity {
    const { kind, group, view, title, data = {}, note = '', trace, parent } = begun
    const id = ++this.#count
    const activity: Activity = {
      id,
      kind,
      group,
      view,
      title,
      trace: trace ?? from?.trace ?? prefix + hex(id, 16),
      parent: parent ?? from?.id,
      at: clock.now(),
      ms: undefined,
      outcome: 'running',
      note,
      error: undefined,
      marks: [],
      marksLeftOut: 0,
      data,
      [begunAt]: systemClock.monotonic(),
      [counted]: 0,
    }
    const list = this.#lists.get(kind)!
    list.push(activity)
    if (list.length > this.keep) this.#drop(list)
    this.grow(activity, base + size)
    this.onChange(activity)
    return activity
  }

  /** Returns the milliseconds since an activity began. */
  since(activity: Activity): number {
    return systemClock.monotonic() - activity[begunAt]!
  }

  end(activity: Activity, outcome: 'ok' | 'failed' = 'ok'): void {
    activity.ms ??= this.since(activity)
    activity.outcome = activity.outcome === 'failed' ? 'failed' : outcome
    this.onChange(activity)
  }

  /** Adds something that happens in one moment. */
  add(begun: Begun, from: Activity | undefined, size = 0): Activity {
    const activity = this.begin(begun, from, size)
    activity.ms = 0
    activity.outcome = 'ok'
    return activity
  }

  mark(activity: Activity, name: string): Mark | undefined {
    if (activity.marks.length >= maxMarks) {
      activity.marksLeftOut++
      return undefined
    }
    const mark: Mark = { name, at: this.since(activity) }
    activity.marks.push(mark)
    this.grow(activity, ofMark)
    return mark
  }

  /** Takes over what the previous version of the application has recorded; returns what there is a list for. */
  restore(entries: readonly Activity[]): Activity[] {
    const taken = entries.filter(({ id, kind }) => this.#lists.has(kind) && this.find(id) === undefined)
    for (const [kind, list] of this.#lists) {
      list.push(...taken.filter((one) => one.kind === kind))
      list.sort(byTime)
    }
    for (const one of taken) {
      // Another clock, or more than one entry in a millisecond: a new entry does not get the number of an earlier one.
      if (one.id < firstForeignId) this.#count = Math.max(this.#count, one.id)
      if (one.outcome === 'running') Object.assign(one, { outcome: 'failed', note: `${one.note} not finished`.trim() })
      one[counted] = 0
      this.grow(one, JSON.stringify(one).length)
    }
    for (const list of this.#lists.values()) while (list.length > this.keep) this.#drop(list)
    return taken
  }

  /** Counts bytes that are kept for an activity, and drops the oldest activities when there are too many. */
  grow(activity: Activity, bytes: number): void {
    if (activity[counted] === undefined) return
    activity[counted] += bytes
    this.bytes += bytes
    while (this.bytes > this.#maxBytes) {
      const [oldest] = [...this.#lists.values()].filter(({ length }) => length > 0).sort(([a], [b]) => byTime(a!, b!))
      if (oldest === undefined) return
      this.#drop(oldest)
    }
  }

  #drop(list: Activity[]): void {
    const first = list.shift()!
    this.bytes -= first[counted]!
    first[counted] = undefined
  }

  /** Returns the activities of a kind, the newest first. */
  list(kind: string): Activity[] | undefined {
    return this.#lists.get(kind)?.toReversed()
  }

  find(id: number): Activity | undefined {
    for (const list of this.#lists.values()) {
      const found = list.findLast((one) => one.id === id)
      if (found !== undefined) return found
    }
    return undefined
  }

  all(): Activity[] {
    return [...this.#lists.values()].flat()
  }

  /** Returns all activities of one trace, in the order in which they began. */
  ofTrace(trace: string): Activity[] {
    return this.all()
      .filter((one) => one.trace === trace)
      .sort(byTime)
  }

  counts(): Record<string, number> {
    return Object.fromEntries([...this.#lists].map(([kind, { length }]) => [kind, length]))
  }

  clear(): void {
    for (const list of this.#lists.values()) while (list.length > 0) this.#drop(list)
    this.onClear()
  }
}
