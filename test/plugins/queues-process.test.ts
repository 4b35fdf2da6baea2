import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import {
  bullmqQueue,
  defineQueueConfiguration,
  pgbossQueue,
  type Queue,
  type QueueConfig,
  QueueService,
  sqsQueue,
} from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { freshName, until } from '../support/queues.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { sqsCredentials, startSqs } from '../support/sqs.ts'

interface Note {
  readonly what: string
  readonly payload: number
  readonly pid: number
}

const root = join(import.meta.dirname, '../..')
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
}, 30_000)

function noteFile(): { file: string; notes(what: string): Note[] } {
  const folder = mkdtempSync(join(tmpdir(), 'framework-queues-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'notes')
  const notes = (what: string) =>
    (existsSync(file) ? readFileSync(file, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as [string, number, number])
      .map(([name, payload, pid]) => ({ what: name, payload, pid }))
      .filter((note) => note.what === what)
  return { file, notes }
}

async function startWorker(settings: object): Promise<{ child: ChildProcess; exited: Promise<number | null> }> {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const script = join(import.meta.dirname, 'fixtures/queues-worker.mjs')
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  ends.push(() => child.kill('SIGKILL'))
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  await until(() => output.includes('ready\n') || child.exitCode !== null, 'the worker')
  if (child.exitCode !== null) throw new Error(`the worker ended with ${child.exitCode}: ${output}`)
  return { child, exited }
}

interface Engine {
  readonly kind: string
  readonly isThere: boolean
  /** Milliseconds after which a message whose worker died must have come again. */
  readonly again: number
  readonly options: object
  start(): Promise<OwnServer>
  config(server: OwnServer): QueueConfig
  queue(name: string): Queue<number, object>
  prepare?(server: OwnServer, name: string): Promise<void>
}

const engines: Engine[] = [
  {
    kind: 'bullmq',
    isThere: hasRedis,
    again: 4000,
    options: {},
    start: () => startRedis('--maxmemory-policy', 'noeviction'),
    config: ({ url }) => ({ bullmq: { connection: url, lockDuration: 2000, stalledInterval: 1000 } }),
    queue: (name) => bullmqQueue<number>(name),
  },
  {
    kind: 'pgboss',
    isThere: hasPostgres,
    again: 6000,
    options: { expireInSeconds: 3 },
    start: () => startPostgres(),
    config: ({ url }) => ({
      pgboss: {
        connectionString: url,
        pollInterval: 200,
        options: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, maintenanceIntervalSeconds: 1 },
      },
    }),
    queue: (name) => pgbossQueue<number>(name),
  },
  {
    kind: 'sqs',
    isThere: true,
    again: 4000,
    options: {},
    start: () => startSqs(),
    config: ({ url }) => ({
      sqs: {
        region: 'us-east-1',
        endpoint: url,
        credentials: sqsCredentials,
        visibilityTimeout: 2,
        waitTimeSeconds: 1,
      },
    }),
    queue: (name) => sqsQueue<number>(name),
    async prepare({ url }, name) {
      const options = { region: 'us-east-1', endpoint: url, credentials: sqsCredentials, useQueueUrlAsEndpoint: false }
      const client = new SQSClient(options)
      await client.send(new CreateQueueCommand({ QueueName: name }))
      client.destroy()
    },
  },
]

describe.each(engines.filter(({ isThere }) => isThere))('$kind', (engine) => {
  async function begin(what: string) {
    const server = await engine.start()
    ends.push(() => server.stop())
    const name = freshName(what)
    await engine.prepare?.(server, name)
    const config = engine.config(server)
    defineQueueConfiguration(config)
    ends.push(() => QueueService.stop())
    const settings = { kind: engine.kind, name, config, concurrency: 1, ...noteFile() }
    return { queue: engine.queue(name), settings, notes: settings.notes }
  }

  test('a message whose worker was killed runs again, in another', async () => {
    const { queue, settings, notes } = await begin('killed')
    const first = await startWorker({ ...settings, ms: 60_000 })
    await queue.publish(1, engine.options)
    await until(() => notes('begin').length === 1, 'the first run')
    first.child.kill('SIGKILL')
    await first.exited
    const died = performance.now()
    const second = await startWorker({ ...settings, ms: 10 })
    await until(() => notes('end').length === 1, 'the second run', engine.again + 10_000)
    expect(performance.now() - died).toBeLessThan(engine.again + 6000)
    expect(notes('begin').map(({ pid }) => pid)).toEqual([first.child.pid, second.child.pid])
    expect(notes('end')).toEqual([{ what: 'end', payload: 1, pid: second.child.pid }])
  }, 60_000)

  test('SIGTERM lets running handlers finish, begins no other, and loses nothing', async () => {
    const { queue, settings, notes } = await begin('terminated')
    const first = await startWorker({ ...settings, ms: 1000, concurrency: 4 })
    await queue.publishMany([...Array(20).keys()])
    await until(() => notes('begin').length >= 4, 'running handlers')
    const begun = notes('begin').length
    first.child.kill('SIGTERM')
    const start = performance.now()
    expect(await first.exited).toBe(0)
    expect(performance.now() - start).toBeLessThan(5000)
    // One lot may have been under way from the engine.
    expect(notes('begin').length).toBeLessThanOrEqual(begun + 4)
    expect(notes('end').length).toBe(notes('begin').length)

    await startWorker({ ...settings, ms: 10, concurrency: 4 })
    await until(() => new Set(notes('end').map(({ payload }) => payload)).size === 20, 'the rest', 40_000)
    expect(notes('end')).toHaveLength(20)
  }, 90_000)
})
