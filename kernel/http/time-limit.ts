import type { Hook } from '../plugin/hooks.ts'
import { Running } from '../support/deadlines.ts'
import { Downstream, type Link } from './compose.ts'

/** What a request is at: a step, what is left of one behind `next()`, a hook or something else with a name; `undefined` is the handler. */
export type Current = Link | Downstream | Hook<'onSend'> | { readonly task: string } | undefined

// Bound before anybody can fake the clock.
const clock = performance.now.bind(performance)

/** The time that a request has. Made for those that wait for something. */
export class TimeLimit extends Running {
  isRunning = false
  /** How often it was over: whoever began to wait for something before is no longer listened to. */
  overs = 0
  #extendedTo = 0

  constructor() {
    super(nothing)
  }

  extend(ms: number | false): void {
    this.#extendedTo = ms === false ? Number.POSITIVE_INFINITY : clock() + ms
  }

  /** What is left of an extension. */
  get extension(): number {
    return Math.max(0, this.#extendedTo - clock())
  }
}

function nothing(): void {}

/** Says what took too long, for the log. */
export function describeCurrent(current: Current, handler: string, ms: number): string {
  const within = `within ${ms} ms`
  if (current === undefined) return `the handler of ${handler} did not answer ${within}`
  if (current instanceof Downstream) return `${current.name} did not end behind next() ${within}`
  if ('entry' in current) return `an onSend hook of the plugin "${current.entry.name}" did not settle ${within}`
  if ('task' in current) return `${current.task} did not settle ${within}`
  return `${current.name} neither answered nor called next() ${within}`
}
