import { framesOf } from '../shared/terminal/error-lines.ts'
import { placesOf, placeText } from '../shared/terminal/stack.ts'
import { LruMap } from '../shared/values/lru.ts'
import type { Activity } from './activities.ts'

/** The failures of one type at one place of the application. */
export interface ExceptionGroup {
  readonly type: string
  /** The place as `src/orders.ts:7:21`; without frames of the application, the message. */
  readonly place: string
  message: string
  count: number
  readonly first: number
  last: number
  /** The ids of the work that failed, the newest last. */
  readonly ids: number[]
}

/** Maximum number of groups, and of the work that a group names. */
const maxGroups = 100
const maxIds = 20

/** Failures by type and place, counted also when the work that failed is no longer kept. */
export class Exceptions {
  readonly #groups = new LruMap<ExceptionGroup>({ max: maxGroups })
  readonly #seen = new WeakMap<object, ExceptionGroup>()

  /** Adds a failure of some work; `error` is what the page shows of it, and `thrown` the error itself, if there is one. */
  add({ id, at, error }: Activity, thrown?: unknown): void {
    const status = (thrown as { status?: unknown } | undefined)?.status
    // The answer to a client's mistake is not a failure of the application.
    if (typeof status === 'number' && status < 500) return
    const { type, message, place } = seenIn(error)
    const key = `${type} ${place}`
    const known = this.#groups.get(key) ?? { type, place, message, count: 0, first: at, last: at, ids: [] }
    this.#groups.set(key, known)
    // The same error passes through all the work around it, such as a job and the request within which it runs.
    const isAgain = typeof thrown === 'object' && thrown !== null && this.#seen.get(thrown) === known
    if (!isAgain) known.count++
    if (typeof thrown === 'object' && thrown !== null) this.#seen.set(thrown, known)
    Object.assign(known, { message, last: Math.max(known.last, at) })
    known.ids.push(id)
    if (known.ids.length > maxIds) known.ids.shift()
  }

  /** The groups, that of the newest failure first. */
  list(): ExceptionGroup[] {
    return [...this.#groups.values()].reverse()
  }

  clear(): void {
    this.#groups.clear()
  }
}

function seenIn(error: unknown): { type: string; message: string; place: string } {
  const chain: { name: string; message: string; stack: string }[] = []
  for (let one = error; typeof one === 'object' && one !== null && chain.length < 6; one = (one as Error).cause) {
    const { type: name = 'Error', message = '', stack = '' } = one as { readonly [member: string]: string }
    chain.push({ name: String(name), message: String(message), stack: String(stack) })
  }
  const [first = { name: 'a thrown value', message: String(error) }] = chain
  // The library that threw has no place of the application, but its caller, which passed it on, may have.
  const [place] = chain.flatMap((one) => placesOf(framesOf(one)))
  const message = first.message.slice(0, 1_000)
  return { type: first.name.slice(0, 200), message, place: place === undefined ? message : placeText(place) }
}
