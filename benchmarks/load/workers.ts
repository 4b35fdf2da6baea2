import { cpuTimeOfTree } from '../support/machine.ts'
import { shuffled } from '../support/statistics.ts'
import { load } from './generator.ts'
import type { Exchange } from './probe.ts'
import type { LoadSettings } from './schedule.ts'
import { ServerProcess, type Subject } from './server-process.ts'

/** The results of an application in several processes, one value per slice. */
export interface WorkersSeries {
  readonly name: string
  readonly perSecond: number[]
  /** CPU µs per request of all its processes, including the supervisor. */
  readonly cost: number[]
}

/**
 * Follows the same schedule as for a single process, but pins nothing to one core, because requests per second are what
 * is measured here. The generator uses some of the cores, which matters for a cheap handler.
 */
export async function measureWorkers(
  subjects: readonly Subject[],
  exchange: Exchange,
  { generations, rounds, seconds, runtime }: LoadSettings,
): Promise<WorkersSeries[]> {
  const series = subjects.map(({ name }): WorkersSeries => ({ name, perSecond: [], cost: [] }))
  for (let generation = 0; generation < generations; generation++) {
    const servers: ServerProcess[] = []
    try {
      for (const subject of subjects)
        servers.push(await ServerProcess.start(subject, exchange, { runtime, cores: 'all' }))
      for (const server of servers) await load(server.port, exchange, seconds)
      for (let round = 0; round < rounds; round++) {
        for (const server of shuffled(servers)) {
          const before = cpuTimeOfTree(server.pid)
          const { requests, perSecond } = await load(server.port, exchange, seconds)
          const own = series[subjects.indexOf(server.subject)]!
          own.perSecond.push(perSecond)
          own.cost.push((cpuTimeOfTree(server.pid) - before) / requests)
        }
      }
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  return series
}
