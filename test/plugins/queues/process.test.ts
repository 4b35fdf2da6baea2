import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineQueueConfiguration, QueueService } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { type ServedEngine, servedEngines } from '../../support/queue-engines.ts'
import { freshName, until } from '../../support/queues.ts'

interface Note {
  readonly what: string
  readonly payload: number
  readonly pid: number
}

const root = join(import.meta.dirname, '../../..')
type Ends = (() => unknown)[]

/** Runs a test, and ends its resources after it. */
async function cleanly(use: (ends: Ends) => Promise<void>): Promise<void> {
  const ends: Ends = []
  try {
    await use(ends)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

function noteFile(ends: Ends): { file: string; notes(what: string): Note[] } {
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

interface Worker {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  /** What it has printed. */
  output(): string
}

async function startWorker(settings: object, ends: Ends): Promise<Worker> {
  const script = join(import.meta.dirname, '../fixtures/queues-worker.mjs')
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
  return { child, exited, output: () => output }
}

const servers = new Map<string, OwnServer>()
const used = servedEngines.filter(({ isThere }) => isThere)
const configOf = (engine: ServedEngine) => engine.config(servers.get(engine.kind)!.url, engine.impatient)

beforeAll(async () => {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  await Promise.all(used.map(async (engine) => servers.set(engine.kind, await engine.start())))
  // Of the process, so there is one for all of them.
  defineQueueConfiguration(Object.assign({}, ...used.map(configOf)))
})
afterAll(async () => {
  await QueueService.stop()
  await Promise.all([...servers.values()].map((server) => server.stop()))
})

// The engines side by side: most of the time they wait for the end of a lock.
describe.concurrent.each(used)('$kind', (engine) => {
  async function begin(what: string, ends: Ends) {
    const name = freshName(what)
    await engine.create?.(servers.get(engine.kind)!.url, name)
    const settings = { kind: engine.kind, name, config: configOf(engine), concurrency: 1, ...noteFile(ends) }
    const worker = (more: object) => startWorker({ ...settings, ...more }, ends)
    return { queue: engine.queue(name), worker, notes: settings.notes }
  }

  test.sequential('a message whose worker was killed runs again, in another', () =>
    cleanly(async (ends) => {
      const { queue, worker, notes } = await begin('killed', ends)
      const first = await worker({ ms: 60_000 })
      await queue.publish(1, engine.impatiently)
      await until(() => notes('begin').length === 1, 'the first run')
      first.child.kill('SIGKILL')
      await first.exited
      const second = await worker({ ms: 10 })
      await until(() => notes('end').length === 1, 'the second run', 14_000)
      expect(notes('begin').map(({ pid }) => pid)).toEqual([first.child.pid, second.child.pid])
      expect(notes('end')).toEqual([{ what: 'end', payload: 1, pid: second.child.pid }])
    }))

  test.sequential('two processes share the messages: each runs once', () =>
    cleanly(async (ends) => {
      const { queue, worker, notes } = await begin('shared', ends)
      const settings = { ms: 5, concurrency: 3 }
      const workers = await Promise.all([worker(settings), worker(settings)])
      await queue.publishMany([...Array(100).keys()])
      await until(() => notes('end').length >= 100, 'all', 40_000)
      expect(new Set(notes('end').map(({ payload }) => payload)).size).toBe(100)
      expect(notes('end')).toHaveLength(100)
      for (const { child } of workers) {
        const own = notes('begin').filter(({ pid }) => pid === child.pid)
        expect(own.length).toBeGreaterThan(0)
      }
    }))

  test.sequential('SIGTERM lets running handlers finish, begins no other, and loses nothing', () =>
    cleanly(async (ends) => {
      const { queue, worker, notes } = await begin('terminated', ends)
      const first = await worker({ ms: 500, concurrency: 4 })
      await queue.publishMany([...Array(20).keys()])
      await until(() => notes('begin').length >= 4, 'running handlers')
      const begun = notes('begin').length
      first.child.kill('SIGTERM')
      // It would be 1 if the server had waited until its time limit.
      expect(await first.exited).toBe(0)
      // One lot may have been under way from the engine.
      expect(notes('begin').length).toBeLessThanOrEqual(begun + 4)
      expect(notes('end').length).toBe(notes('begin').length)

      await worker({ ms: 10, concurrency: 4 })
      await until(() => new Set(notes('end').map(({ payload }) => payload)).size === 20, 'the rest', 40_000)
      expect(notes('end')).toHaveLength(20)
    }))

  if (engine.kind === 'bullmq')
    test.sequential('a handler that lets nothing else run loses its message to another process, is notified, and continues', () =>
      cleanly(async (ends) => {
        const { queue, worker, notes } = await begin('blocked', ends)
        const settings = { ms: 10, blocks: 2500 }
        const workers = await Promise.all([worker(settings), worker(settings)])
        await queue.publish(1)
        await until(() => notes('end').length === 2, 'both runs')
        const [first, second] = notes('begin').map(({ pid }) => workers.find(({ child }) => child.pid === pid)!)
        expect(first).not.toBe(second)
        expect(notes('end').map(({ pid }) => pid)).toEqual([second!.child.pid, first!.child.pid])
        await until(() => first!.output().includes('another worker received a job'), 'the warning')
        second!.child.kill('SIGKILL')
        await queue.publish(2)
        await until(() => notes('end').some(({ payload }) => payload === 2), 'the next message')
        expect(first!.child.exitCode).toBeNull()
      }))

  // The last one: the engine is gone.
  if (engine.kind !== 'sqs')
    test.sequential('an engine that is away keeps neither the server from closing nor the process from ending', () =>
      cleanly(async (ends) => {
        const { queue, worker, notes } = await begin('away', ends)
        const one = await worker({ ms: 300, lingers: true })
        await queue.publish(1, engine.impatiently)
        await until(() => notes('begin').length === 1, 'the handler')
        await servers.get(engine.kind)!.kill()
        one.child.kill('SIGTERM')
        // Whatever tried to reach the engine again would keep it from ending.
        expect(await one.exited).toBe(0)
        expect(notes('end')).toHaveLength(1)
      }))
})
