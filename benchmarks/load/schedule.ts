import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuTime, residentMemory } from '../support/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { shuffled } from '../support/statistics.ts'
import { load } from './generator.ts'
import { type Held, holdConnections } from './idle.ts'
import type { Exchange } from './probe.ts'
import { ServerProcess, type Subject } from './server-process.ts'
import { exchangeOf } from './servers.ts'

export interface LoadSettings {
  readonly generations: number
  readonly rounds: number
  readonly seconds: number
  readonly runtime: Runtime
}

/** The results of one subject, one value per slice; slices with the same index belong to the same round for every subject. */
export interface LoadSeries {
  readonly name: string
  /** CPU µs per request, or wall µs where the CPU time of a process cannot be read. */
  readonly cost: number[]
  readonly user: number[]
  readonly perSecond: number[]
  readonly memory: number[]
  /** The number of headers in a response. */
  headers: number
}

/**
 * Keeps the servers of a suite up and loads them one after the other, one slice each, in a new order every round.
 *
 * A process keeps its bias for life (near-identical servers scored 10.3 and 12.9 µs for a whole series), so all servers
 * are restarted between generations. CPU time per request is steadier than requests per second: the quartiles
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
    const held: Held[] = []
    try {
      for (const subject of subjects) {
        const server = await ServerProcess.startSettled(subject, exchange, settings.runtime)
        servers.push(server)
        if (subject.idle) held.push(await holdConnections(server.port, exchange, subject.idle))
      }
      // After its first second, a server runs with compiled code and full caches.
      for (const server of servers) await load(server.port, exchangeOf(server.subject, exchange), settings.seconds)
      for (let round = 0; round < settings.rounds; round++) {
        for (const server of shuffled(servers)) {
          await measureSlice(server, exchangeOf(server.subject, exchange), settings.seconds, seriesOf(server))
        }
      }
      for (const connections of held) connections.check()
      for (const server of servers) {
        seriesOf(server).memory.push(residentMemory(server.pid))
        seriesOf(server).headers = server.headers
      }
    } finally {
      for (const connections of held) connections.end()
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

/** Starts each server once and compares its responses and its log, without any load. */
export async function checkServers(subjects: readonly Subject[], exchange: Exchange, runtime: Runtime): Promise<void> {
  await Promise.all(
    subjects.map(async (subject) => {
      const logFile = join(subject.stage.folder, `${randomUUID()}.log`)
      const server = await ServerProcess.start(subject, exchange, { runtime, logFile })
      try {
        await checkLog(subject.name, logFile, exchange)
      } finally {
        await server.stop()
      }
    }),
  )
}

/** Checks that the log has one line with an id, since one request was sent. The line is written after the response. */
async function checkLog(name: string, file: string, { logged }: Exchange): Promise<void> {
  if (logged.length === 0) return
  const deadline = performance.now() + 5000
  for (;;) {
    // The text after the last line feed is empty or an incomplete line.
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
    const own = lines.map((line) => JSON.parse(line) as object).filter((entry) => 'reqId' in entry)
    if (own.length > 0) {
      const fields = own.map((entry) => Object.keys(entry).sort().join())
      if (fields.join('; ') === [...logged].sort().join()) return
      throw new Error(`${name} has logged ${fields.join('; ')}, expected one line with ${logged.join()}`)
    }
    if (performance.now() > deadline) throw new Error(`${name} has logged no request`)
    await pause(10)
  }
}
