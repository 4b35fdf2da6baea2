import { residentMemory } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { shuffled } from '../support/statistics.ts'
import { load } from './generator.ts'
import type { Exchange } from './probe.ts'
import { ServerProcess, type Subject } from './server-process.ts'

export interface MemorySeries {
  readonly name: string
  /** Resident memory in MB at the first response, and after the load. */
  readonly ready: number[]
  readonly loaded: number[]
}

/** How many requests a server has answered when its memory is read. */
export const memoryRequests = 1_000_000

const sliceSeconds = 3

/** Starts every server `generations` times, and loads it until it has answered a million requests. It collects garbage on its own. */
export async function measureMemory(
  subjects: readonly Subject[],
  exchange: Exchange,
  generations: number,
  runtime: Runtime,
): Promise<MemorySeries[]> {
  const series = subjects.map(({ name }): MemorySeries => ({ name, ready: [], loaded: [] }))
  for (let generation = 0; generation < generations; generation++) {
    for (const subject of shuffled(subjects)) {
      const server = await ServerProcess.start(subject, exchange, { runtime })
      const own = series[subjects.indexOf(subject)]!
      own.ready.push(residentMemory(server.pid))
      for (let left = memoryRequests; left > 0; ) {
        const { requests } = await load(server.port, exchange, sliceSeconds)
        left -= requests
      }
      own.loaded.push(residentMemory(server.pid))
      await server.stop()
    }
  }
  return series
}
