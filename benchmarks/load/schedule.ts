import { cpuTime, residentMemory } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { shuffled } from '../support/statistics.ts'
import { load } from './generator.ts'
import type { Exchange } from './probe.ts'
import { ServerProcess, type Subject } from './server-process.ts'

export interface LoadSettings {
  readonly generations: number
  readonly rounds: number
  readonly seconds: number
  readonly runtime: Runtime
}

/** What one subject did, a value a slice; a slice of one index belongs to the same round for every subject. */
export interface LoadSeries {
  readonly name: string
  /** CPU µs per request; wall µs where the CPU time of a process cannot be read. */
  readonly cost: number[]
  readonly user: number[]
  readonly perSecond: number[]
  readonly memory: number[]
  /** How many headers an answer has. */
  headers: number
}

/**
 * The servers of a suite stay up and are loaded one after the other, a slice each, in a new order every round.
 *
 * A process keeps a bias for its whole life (near-identical servers scored 10.3 and 12.9 µs for a whole series), so all
 * of them are restarted between generations. CPU time per request is steadier than requests per second: the quartiles
 * of 171 series lay 8 % apart against 13 %.
 */
export async function measureLoad(
  subjects: readonly Subject[],
  exchange: Exchange,
  settings: LoadSettings,
): Promise<LoadSeries[]> {
  const series = subjects.map(
    ({ name }): LoadSeries => ({ name, cost: [], user: [], perSecond: [], memory: [], headers: 0 }),
  )
  const seriesOf = (server: ServerProcess) => series[subjects.indexOf(server.subject)]!
  for (let generation = 0; generation < settings.generations; generation++) {
    const servers: ServerProcess[] = []
    try {
      for (const subject of subjects)
        servers.push(await ServerProcess.startSettled(subject, exchange, settings.runtime))
      // Compiled code and full caches are what a server has for all but its first second.
      for (const server of servers) await load(server.port, exchange, settings.seconds)
      for (let round = 0; round < settings.rounds; round++) {
        for (const server of shuffled(servers)) await measureSlice(server, exchange, settings.seconds, seriesOf(server))
      }
      for (const server of servers) {
        seriesOf(server).memory.push(residentMemory(server.pid))
        seriesOf(server).headers = server.headers
      }
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  return series
}

async function measureSlice(server: ServerProcess, exchange: Exchange, seconds: number, series: LoadSeries) {
  const before = cpuTime(server.pid)
  const { requests, perSecond } = await load(server.port, exchange, seconds)
  const after = cpuTime(server.pid)
  series.perSecond.push(perSecond)
  if (before === undefined || after === undefined) {
    series.cost.push(1e6 / perSecond)
    series.user.push(Number.NaN)
    return
  }
  const user = after.user - before.user
  series.cost.push((user + after.system - before.system) / requests)
  series.user.push(user / requests)
}

/** Starts each server once and compares its answers, without any load. */
export async function checkServers(subjects: readonly Subject[], exchange: Exchange, runtime: Runtime): Promise<void> {
  await Promise.all(
    subjects.map(async (subject) => {
      const server = await ServerProcess.start(subject, exchange, { runtime })
      await server.stop()
    }),
  )
}
