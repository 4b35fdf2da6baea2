import { getHeapStatistics } from 'node:v8'
import { Gate, type Load, type OnOverload } from './gate.ts'
import type { OverloadSettings } from './options.ts'

const heapUsed = () => getHeapStatistics().used_heap_size

/** Of Bun the statistics have a limit that is not one. */
const heapLimit = () => ('Bun' in globalThis ? Infinity : getHeapStatistics().heap_size_limit * 0.9)

/** What the plugin `overload` sees, and what it does about it. */
export class OverloadState {
  /** @internal */
  readonly gate: Gate
  readonly #limits: Load
  /** @internal */
  on: OnOverload | undefined

  constructor({ maxEventLoopDelay, maxHeapUsed, maxRequestsInFlight }: OverloadSettings) {
    this.#limits = {
      eventLoopDelay: maxEventLoopDelay === false ? Infinity : maxEventLoopDelay,
      heapUsed: maxHeapUsed === false ? Infinity : (maxHeapUsed ?? heapLimit()),
      requestsInFlight: maxRequestsInFlight === false ? Infinity : maxRequestsInFlight,
    }
    this.gate = new Gate(this.#limits, {
      began: (...what) => this.on?.began(...what),
      ended: (...what) => this.on?.ended(...what),
    })
  }

  /** Whether an overload has begun and not ended. */
  get isOverloaded(): boolean {
    return this.gate.isOverloaded
  }

  /** The part of requests that is let in, from 0 to 1. */
  get share(): number {
    return this.gate.share
  }

  /** Requests that were refused since the start. */
  get refused(): number {
    return this.gate.refused
  }

  /** What had passed its limit at the last look. */
  get exceeded(): readonly (keyof Load)[] {
    return this.gate.exceeded
  }

  /** The figures of the last look. */
  get load(): Load {
    return this.gate.load
  }

  /** The limits in the same units; `Infinity` for none. */
  get limits(): Load {
    return this.#limits
  }

  /** @internal */
  look(eventLoopDelay: number, requestsInFlight: number): void {
    this.gate.look({ eventLoopDelay, heapUsed: heapUsed(), requestsInFlight })
  }
}
