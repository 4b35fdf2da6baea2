import { getHeapStatistics } from 'node:v8'
import { systemClock } from '../../kernel/index.ts'
import type { OverloadSettings } from './options.ts'

/** The measured values, in the units of the limits. */
export interface Load {
  /** The average delay of the event loop in milliseconds. */
  readonly eventLoopDelay: number
  /** The used heap in bytes. */
  readonly heapUsed: number
  /** The number of requests in progress. */
  readonly requestsInFlight: number
}

/** Called when an overload begins, with the names of the figures above their limits, and when it has ended. */
export interface OnOverload {
  began(exceeded: readonly (keyof Load)[], load: Load): void
  ended(refused: number, ms: number): void
}

const names = ['eventLoopDelay', 'heapUsed', 'requestsInFlight'] as const

/** Up to this part of its limit a figure is calm. */
const calmPart = 0.8
/** The lowest share: garbage is collected only during allocations, so a server that refuses everything may stay at its limit. */
const leastShare = 0.01
/** What a sample adds to the share if all is calm, and if all is merely below the limits, where a large cache may stay for ever. */
const step = { calm: 0.05, between: 0.01 }
/** How many successive samples must be calm before an overload has ended. */
const calmLooks = 4
/** How many successive samples must exceed a limit before any request is refused: one long pause is not an overload. */
const busyLooks = 2

/**
 * The measurements of the plugin `overload`, and its decisions: which requests are accepted.
 *
 * Refusing either all requests or none would oscillate: a server that refuses everything is calm immediately. So each sample above a limit
 * halves the share of requests that is accepted, down to a hundredth, and each calm sample adds a twentieth. The limit of requests in
 * flight needs no share: each response makes room for another request.
 */
export class OverloadState {
  /** The limits, in the same units as the load; `Infinity` for none. */
  readonly limits: Load
  /** @internal */
  on: OnOverload | undefined
  #load: Load = { eventLoopDelay: 0, heapUsed: 0, requestsInFlight: 0 }
  #exceeded: readonly (keyof Load)[] = []
  #share = 1
  #credit = 0
  #busy = 0
  #calm = 0
  #refused = 0
  #refusedBefore = 0
  #refusedAtStart = 0
  #since: number | undefined
  #most: number

  constructor(limits: Load, on?: OnOverload) {
    this.limits = limits
    this.on = on
    this.#most = limits.requestsInFlight
  }

  /** With at most this many requests in flight, a request passes without further checks; -1 while a share is refused. @internal */
  get most(): number {
    return this.#most
  }

  /** Whether an overload has begun and not yet ended. */
  get isOverloaded(): boolean {
    return this.#since !== undefined
  }

  /** The part of requests that is accepted, from 0.01 to 1. */
  get share(): number {
    return this.#share
  }

  /** Requests that were refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** The figures that exceeded their limits in the last sample. */
  get exceeded(): readonly (keyof Load)[] {
    return this.#exceeded
  }

  /** The figures of the last sample. */
  get load(): Load {
    return this.#load
  }

  /** Whether a request may pass with more than `most` in flight; a refused one is counted. @internal */
  admits(requestsInFlight: number): boolean {
    if (requestsInFlight <= this.limits.requestsInFlight) {
      this.#credit += this.#share
      if (this.#credit >= 1) {
        this.#credit -= 1
        return true
      }
    } else if (!this.isOverloaded) this.#begin(['requestsInFlight'], { ...this.#load, requestsInFlight })
    this.#refused++
    return false
  }

  /** Takes a new sample. @internal */
  look(load: Load): void {
    const limits = this.limits
    this.#load = load
    this.#exceeded = names.filter((name) => load[name] > limits[name])
    const isPassed = load.eventLoopDelay > limits.eventLoopDelay || load.heapUsed > limits.heapUsed
    const isCalm = names.every((name) => load[name] <= limits[name] * calmPart)
    this.#busy = isPassed ? this.#busy + 1 : 0
    if (this.#busy >= busyLooks) {
      this.#share = Math.max(leastShare, this.#share / 2)
      if (!this.isOverloaded) this.#begin(this.#exceeded, load)
    } else if (!isPassed) this.#share = Math.min(1, this.#share + (isCalm ? step.calm : step.between))
    this.#most = this.#share === 1 ? limits.requestsInFlight : -1
    const isQuiet = isCalm && this.#share === 1 && this.#refused === this.#refusedBefore
    this.#calm = isQuiet ? this.#calm + 1 : 0
    if (this.isOverloaded && this.#calm >= calmLooks) this.#end()
    this.#refusedBefore = this.#refused
  }

  #begin(exceeded: readonly (keyof Load)[], load: Load): void {
    this.#since = systemClock.monotonic()
    this.#refusedAtStart = this.#refused
    this.on?.began(exceeded, load)
  }

  #end(): void {
    const ms = systemClock.monotonic() - this.#since!
    this.#since = undefined
    this.on?.ended(this.#refused - this.#refusedAtStart, ms)
  }
}

/** The limit of the heap. Bun's statistics report one that does not exist. */
const heapLimit = () => ('Bun' in globalThis ? Infinity : getHeapStatistics().heap_size_limit * 0.9)

/** The limits of the options. */
export const limitsOf = ({ maxEventLoopDelay, maxHeapUsed, maxRequestsInFlight }: OverloadSettings): Load => ({
  eventLoopDelay: maxEventLoopDelay === false ? Infinity : maxEventLoopDelay,
  heapUsed: maxHeapUsed === false ? Infinity : (maxHeapUsed ?? heapLimit()),
  requestsInFlight: maxRequestsInFlight === false ? Infinity : maxRequestsInFlight,
})
