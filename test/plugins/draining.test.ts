import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMosquitto, startMosquitto } from '../support/mosquitto.ts'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { freshName } from '../support/queues.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

interface Ended {
  readonly code: number | null
  /** The lines of its output. */
  readonly output: string[]
}

/** Runs a server that works on many things, sends it a SIGTERM once it is busy, another one at the line `again`, and waits for its end. */
async function closed(settings: object, again?: string): Promise<Ended> {
  const script = join(import.meta.dirname, 'fixtures/draining.mjs')
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const output: string[] = []
  const awaited = new Set(['busy', ...('hangs' in settings ? ['hanging'] : [])])
  const heard = (line: string) => {
    output.push(line)
    if ((awaited.delete(line) && awaited.size === 0) || line === again) child.kill('SIGTERM')
  }
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', heard)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

const many = 50
/** By default five seconds, which fifty on a busy machine exceed. */
const publishTimeout = 60_000
const engines = {
  bullmq: { isThere: hasRedis, start: () => startRedis('--maxmemory-policy', 'noeviction') },
  pgboss: { isThere: hasPostgres, start: () => startPostgres() },
  mqtt: { isThere: hasMosquitto, start: () => startMosquitto() },
} as const

type Engine = keyof typeof engines

/** What the log says about work that never ends. */
const named: Readonly<Record<string, RegExp>> = {
  cron: /no longer waits for the cron jobs draining 0, draining 1,.* draining 49: they are still running/,
  memory: /"queues":\[[^\]]*"draining-memory"/,
  bullmq: /"queues":\[[^\]]*"draining[^"]*-bullmq"/,
  pgboss: /"queues":\[[^\]]*"draining[^"]*-pgboss"/,
  mqtt: /the MQTT topics draining: they are still running/,
  mailer: /was not delivered: the mailer closed/,
}
const plugins: Readonly<Record<string, string>> = { memory: 'queues', bullmq: 'queues', pgboss: 'queues' }

/** Of both groups, all kinds are in one process: their plugins close at the same time. */
const groups = [
  { group: 'in memory', kinds: ['cron', 'memory', 'mqtt', 'mailer'], needed: [] as Engine[] },
  ...[Object.keys(engines).filter((name) => engines[name as Engine].isThere) as Engine[]]
    .filter((there) => there.length > 0)
    .map((there) => ({ group: 'with servers', kinds: there, needed: there })),
]

// Side by side: most of the time they wait for the end of a time limit.
describe.concurrent.each(groups)('SIGTERM while 50 each of $kinds run, $group', ({ kinds, needed }) => {
  const servers = new Map<Engine, OwnServer>()
  beforeAll(async () => {
    await Promise.all(needed.map(async (name) => servers.set(name, await engines[name].start())))
  })
  afterAll(() => Promise.all([...servers.values()].map((server) => server.stop())))

  const settings = (more: object) => {
    const url = (name: Engine) => servers.get(name)?.url
    const broker = url('mqtt')
    return {
      kinds,
      many,
      configs: {
        ...(kinds.includes('memory') && { memory: {} }),
        ...(url('bullmq') && { bullmq: { connection: url('bullmq'), publishTimeout } }),
        ...(url('pgboss') && { pgboss: { connectionString: url('pgboss'), pollInterval: 200, publishTimeout } }),
      },
      mqttConfig: broker
        ? { host: '127.0.0.1', port: Number(new URL(broker).port), publishTimeout }
        : { provider: 'memory' },
      closeTimeout: 60_000,
      ...more,
    }
  }
  const ended = (output: readonly string[]) =>
    JSON.parse(output.find((line) => line.startsWith('ended '))?.slice(6) ?? '{}') as object
  const each = (count: number) => Object.fromEntries(kinds.map((kind) => [kind, count]))

  // queues/process.test.ts has it for the engines with a server.
  if (needed.length === 0)
    test('lets all of them end, and the process ends with 0', async () => {
      const { code, output } = await closed(settings({ ends: true, name: freshName('draining') }))
      expect([code, ended(output)], output.join('\n')).toEqual([0, each(many)])
    })

  test('lets them end beside a request that hangs', async () => {
    const { code, output } = await closed(
      settings({ ends: true, hangs: true, closeTimeout: 8_000, name: freshName('draining') }),
    )
    expect([code, ended(output)], output.join('\n')).toEqual([0, each(many)])
    expect(output.join('\n')).toContain('1 connections were cut')
  })

  test('names those that never end, and the process ends with 1', async () => {
    // A quarter is for the close hooks, which share it: of one second, the last of them would have 20 ms.
    const { code, output } = await closed(settings({ ends: false, closeTimeout: 8_000 }))
    const all = output.join('\n')
    expect([code, ended(output)], all).toEqual([1, each(0)])
    for (const kind of kinds) {
      const plugin = plugins[kind] ?? kind
      expect(all).toMatch(new RegExp(`the plugin \\\\?"${plugin}\\\\?" was still working \\d+ ms after`))
      expect(all).toMatch(named[kind]!)
    }
  })

  // Whatever runs then, so one of the groups shows it.
  if (needed.length === 0)
    test('a second one ends the process at once', async () => {
      expect((await closed(settings({ ends: false }), 'closing')).code).toBe(143)
    })
})
