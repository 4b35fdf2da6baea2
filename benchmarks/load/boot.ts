import { exactCpuTime, residentMemory } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { shuffled } from '../support/statistics.ts'
import type { Exchange } from './probe.ts'
import { ServerProcess, type Subject } from './server-process.ts'

export interface BootSeries {
  readonly name: string
  /** Milliseconds from spawn to the first correct answer. */
  readonly wall: number[]
  readonly cpu: number[]
  readonly memory: number[]
}

/** Starts every server `runs` times, in a new order each time; an additional first round warms the disk caches and is not counted. */
export async function measureBoot(
  subjects: readonly Subject[],
  exchange: Exchange,
  runs: number,
  runtime: Runtime,
): Promise<BootSeries[]> {
  const series = subjects.map(({ name }): BootSeries => ({ name, wall: [], cpu: [], memory: [] }))
  for (let run = -1; run < runs; run++) {
    for (const subject of shuffled(subjects)) {
      const server = await ServerProcess.start(subject, exchange, { runtime, everyMs: 2 })
      const wall = performance.now() - server.startedAt
      const cpu = exactCpuTime(server.pid)
      const memory = residentMemory(server.pid)
      await server.stop()
      if (run < 0) continue
      const own = series[subjects.indexOf(subject)]!
      own.wall.push(wall)
      own.cpu.push(cpu)
      own.memory.push(memory)
    }
  }
  return series
}
