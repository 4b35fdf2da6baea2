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

const count = (output: readonly string[], line: string) => output.filter((one) => one === line).length
const many = 50

interface Kind {
  readonly kind: string
  readonly isThere?: boolean
  start?(): Promise<OwnServer>
  config?(url: string): object
  /** What the log says about work that never ends. */
  readonly named: RegExp
}

const queues = /"queues":\["draining[^"]*"\]/
const kinds: Kind[] = [
  {
    kind: 'cron',
    named: /no longer waits for the cron jobs draining 0, draining 1,.* draining 49: they are still running/,
  },
  { kind: 'memory', config: () => ({ memory: {} }), named: queues },
  { kind: 'mqtt', config: () => ({ provider: 'memory' }), named: /the MQTT topics draining: they are still running/ },
  { kind: 'mailer', named: /was not delivered: the mailer closed/ },
  {
    kind: 'bullmq',
    isThere: hasRedis,
    start: () => startRedis('--maxmemory-policy', 'noeviction'),
    config: (url) => ({ bullmq: { connection: url } }),
    named: queues,
  },
  {
    kind: 'pgboss',
    isThere: hasPostgres,
    start: () => startPostgres(),
    config: (url) => ({ pgboss: { connectionString: url, pollInterval: 200 } }),
    named: queues,
  },
  {
    kind: 'mqtt',
    isThere: hasMosquitto,
    start: () => startMosquitto(),
    config: (url) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }),
    named: /the MQTT topics draining: they are still running/,
  },
]

describe.each(kinds)('SIGTERM while 50 of $kind run', ({ kind, isThere = true, start, config, named }) => {
  let engine: OwnServer | undefined
  beforeAll(async () => {
    if (isThere) engine = await start?.()
  })
  afterAll(() => engine?.stop())
  const settings = (more: object) => ({
    kind,
    many,
    config: config?.(engine?.url ?? ''),
    closeTimeout: 60_000,
    ...more,
  })

  test.runIf(isThere)('lets all of them end, and the process ends with 0', async () => {
    const { code, output } = await closed(settings({ ends: true, name: freshName('draining') }))
    expect([code, count(output, 'end')], output.join('\n')).toEqual([0, many])
  })

  test.runIf(isThere)('lets them end beside a request that hangs', async () => {
    const { code, output } = await closed(
      settings({ ends: true, hangs: true, closeTimeout: 2_000, name: freshName('draining') }),
    )
    expect([code, count(output, 'end')], output.join('\n')).toEqual([0, many])
    expect(output.at(-1)).toContain('1 connections were cut')
  })

  test.runIf(isThere)('names those that never end, and the process ends with 1', async () => {
    const { code, output } = await closed(settings({ ends: false, closeTimeout: 1_000 }))
    const all = output.join('\n')
    expect([code, count(output, 'end')], all).toEqual([1, 0])
    expect(all).toMatch(/the plugin \\?"(queues|cron|mqtt|mailer)\\?" was still working \d+ ms after/)
    expect(all).toMatch(named)
  })

  test.runIf(isThere)('a second one ends the process at once', async () => {
    expect((await closed(settings({ ends: false }), 'closing')).code).toBe(143)
  })
})
