import { getHeapStatistics } from 'node:v8'
import { Gate } from './gate.ts'
import type { OverloadSettings } from './options.ts'

/** Of Bun the statistics have a limit that is not one. */
const heapLimit = () => ('Bun' in globalThis ? Infinity : getHeapStatistics().heap_size_limit * 0.9)

/** What the plugin `overload` sees, and what it does about it. */
export class OverloadState extends Gate {
  constructor({ maxEventLoopDelay, maxHeapUsed, maxRequestsInFlight }: OverloadSettings) {
    super({
      eventLoopDelay: maxEventLoopDelay === false ? Infinity : maxEventLoopDelay,
      heapUsed: maxHeapUsed === false ? Infinity : (maxHeapUsed ?? heapLimit()),
      requestsInFlight: maxRequestsInFlight === false ? Infinity : maxRequestsInFlight,
    })
  }
}
