import { getHeapStatistics } from 'node:v8'
import { Gate } from './gate.ts'
import type { OverloadSettings } from './options.ts'

/** The limit of the heap. Bun's statistics report one that does not exist. */
const heapLimit = () => ('Bun' in globalThis ? Infinity : getHeapStatistics().heap_size_limit * 0.9)

/** The measurements of the plugin `overload`, and its decisions. */
export class OverloadState extends Gate {
  constructor({ maxEventLoopDelay, maxHeapUsed, maxRequestsInFlight }: OverloadSettings) {
    super({
      eventLoopDelay: maxEventLoopDelay === false ? Infinity : maxEventLoopDelay,
      heapUsed: maxHeapUsed === false ? Infinity : (maxHeapUsed ?? heapLimit()),
      requestsInFlight: maxRequestsInFlight === false ? Infinity : maxRequestsInFlight,
    })
  }
}
