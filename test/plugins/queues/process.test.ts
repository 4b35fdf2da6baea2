import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineQueueConfiguration, QueueService } from 'framework'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { type ServedEngine, servedEngines } from '../../support/queue-engines.ts'
import { freshName, until } from '../../support/queues.ts'

interface Note {
  readonly what: string
  readonly payload: number
  readonly pid: number
}

/** A queue of an engine, with the notes of its workers. */
class Noted {
  readonly kind: string
  readonly engine: ServedEngine
  readonly name: string
  readonly #file: string

  constructor(engine: ServedEngine, what: string) {
    this.kind = engine.kind
    this.engine = engine
    this.name = freshName(what)
    this.#file = join(folder, this.name)
  }

  get queue() {
    return this.engine.queue(this.name)
  }

  /** What a worker has to know. */
  with(more: object): object {
    return { kind: this.kind, name: this.name, file: this.#file, concurrency: 1, ms: 10, ...more }
  }

  notes(what: string): Note[] {
    return (existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as [string, number, number])
      .map(([name, payload, pid]) => ({ what: name, payload, pid }))
      .filter((note) => note.what === what)
  }

  /** Waits for notes. */
  until(holds: () => boolean, what: string, ms?: number): Promise<void> {
    return until(holds, `${what}, ${this.kind}`, ms)
  }
}

interface Worker {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  /** What it has printed. */
  output(): string
}

const root = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'framework-queues-'))
const servers = new Map<string, OwnServer>()
const used = servedEngines.filter(({ isThere }) => isThere)
const workers = new Set<Worker>()

/** A worker of these queues, of all engines or of some. */
async function startWorker(queues: readonly object[], engines = used, more: object = {}): Promise<Worker> {
  const script = join(import.meta.dirname, '../fixtures/queues-worker.mjs')
  const child = spawn(process.execPath, [script, JSON.stringify({ queues, config: configOf(engines), ...more })], {
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
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const worker = { child, exited, output: () => output }
  workers.add(worker)
  void exited.then(() => workers.delete(worker))
  await until(() => output.includes('ready\n') || child.exitCode !== null, 'the worker')
  if (child.exitCode !== null) throw new Error(`the worker ended with ${child.exitCode}: ${output}`)
  return worker
}

const configOf = (engines: readonly ServedEngine[]) =>
  Object.assign({}, ...engines.map((engine) => engine.config(servers.get(engine.kind)!.url, engine.impatient)))

/** A queue of each engine. */
const queuesOf = (what: string, engines = used) => engines.map((engine) => new Noted(engine, what))
const killed = queuesOf('killed')
const shared = queuesOf('shared')
const terminated = queuesOf('terminated')
const blocked = queuesOf(
  'blocked',
  used.filter(({ kind }) => kind === 'bullmq'),
)
const away = queuesOf(
  'away',
  used.filter(({ kind }) => kind !== 'sqs'),
)

/** What holds of each engine, side by side: most of the time they wait for the end of a lock. */
const each = (queues: readonly Noted[], holds: (one: Noted) => Promise<unknown>) => Promise.all(queues.map(holds))

beforeAll(async () => {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  await Promise.all(used.map(async (engine) => servers.set(engine.kind, await engine.start())))
  await each([...killed, ...shared, ...terminated], async ({ engine, name }) => {
    await engine.create?.(servers.get(engine.kind)!.url, name)
  })
  // Of the process, so there is one for all of them.
  defineQueueConfiguration(configOf(used))
})
afterAll(async () => {
  await QueueService.stop()
  const ended = [...workers].map(({ exited }) => exited)
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all([...ended, ...[...servers.values()].map((server) => server.stop())])
  rmSync(folder, { recursive: true, force: true })
})

// In this order: a process that a test does not end, the later ones use.

const sharing = () => shared.map((one) => one.with({ ms: 5, concurrency: 3 }))
const blocking = () => blocked.map((one) => one.with({ blocks: 4500 }))

test('a message whose worker was killed runs again, in another', async () => {
  const first = await startWorker(killed.map((one) => one.with({ ms: 60_000 })))
  // Last those whose messages come again although their worker lives.
  for (const impatient of [false, true])
    await each(
      killed.filter(({ engine }) => (engine.impatiently !== undefined) === impatient),
      async (one) => {
        await one.queue.publish(1, one.engine.impatiently)
        await one.until(() => one.notes('begin').length === 1, 'the first run')
      },
    )
  first.child.kill('SIGKILL')
  await first.exited
  const second = await startWorker([...killed.map((one) => one.with({})), ...sharing(), ...blocking()])
  await each(killed, async (one) => {
    await one.until(() => one.notes('end').length === 1, 'the second run')
    expect(one.notes('begin').map(({ pid }) => pid)).toEqual([first.child.pid, second.child.pid])
    expect(one.notes('end')).toEqual([{ what: 'end', payload: 1, pid: second.child.pid }])
  })
})

test('two processes share the messages: each runs once', async () => {
  await startWorker([...sharing(), ...terminated.map((one) => one.with({ ms: 500, concurrency: 4 }))])
  const both = [...workers].map(({ child }) => child.pid)
  expect(both).toHaveLength(2)
  await each(shared, async (one) => {
    const pids = () => new Set(one.notes('begin').map(({ pid }) => pid))
    let count = 0
    // A process that asks late may find none of a hundred.
    while (pids().size < 2) {
      const first = count
      count += 100
      await one.queue.publishMany(Array.from({ length: 100 }, (_, i) => first + i))
      await one.until(() => one.notes('end').length >= count, 'all')
    }
    expect(new Set(one.notes('end').map(({ payload }) => payload)).size).toBe(count)
    expect(one.notes('end'), one.kind).toHaveLength(count)
    expect(pids()).toEqual(new Set(both))
  })
})

test('SIGTERM lets running handlers finish, begins no other, and loses nothing', async () => {
  await each(terminated, async (one) => {
    await one.queue.publishMany([...Array(20).keys()])
    await one.until(() => one.notes('begin').length >= 4, 'running handlers')
  })
  const begun = terminated.map((one) => one.notes('begin').length)
  const first = [...workers].at(-1)!
  first.child.kill('SIGTERM')
  // It would be 1 if the server had waited until its time limit.
  expect(await first.exited).toBe(0)
  for (const [i, one] of terminated.entries()) {
    // One lot may have been under way from the engine.
    expect(one.notes('begin').length).toBeLessThanOrEqual(begun[i]! + 4)
    expect(one.notes('end').length).toBe(one.notes('begin').length)
  }

  await startWorker([...terminated.map((one) => one.with({ concurrency: 4 })), ...blocking()])
  await each(terminated, async (one) => {
    await one.until(() => new Set(one.notes('end').map(({ payload }) => payload)).size === 20, 'the rest')
    expect(one.notes('end'), one.kind).toHaveLength(20)
  })
})

test('a handler that lets nothing else run loses its message to another process, is notified, and continues', async () => {
  await each(blocked, async (one) => {
    await one.queue.publish(1)
    await one.until(() => one.notes('end').length === 2, 'both runs')
    const [first, second] = one.notes('begin').map(({ pid }) => [...workers].find(({ child }) => child.pid === pid)!)
    expect(first).not.toBe(second)
    expect(one.notes('end').map(({ pid }) => pid)).toEqual([second!.child.pid, first!.child.pid])
    await until(() => first!.output().includes('another worker received a job'), 'the warning')
    second!.child.kill('SIGKILL')
    await one.queue.publish(2)
    await one.until(() => one.notes('end').some(({ payload }) => payload === 2), 'the next message')
    expect(first!.child.exitCode).toBeNull()
  })
})

test('an engine that is away keeps neither the server from closing nor the process from ending', async () => {
  await each(away, async (one) => {
    // With its engine alone, in place of those of the other tests.
    const worker = await startWorker([one.with({ ms: 300 })], [one.engine], { lingers: true })
    await one.queue.publish(1, one.engine.impatiently)
    await one.until(() => one.notes('begin').length === 1, 'the handler')
    await servers.get(one.kind)!.kill()
    worker.child.kill('SIGTERM')
    // Whatever tried to reach the engine again would keep it from ending.
    expect(await worker.exited, worker.output()).toBe(0)
    expect(one.notes('end')).toHaveLength(1)
  })
})

test('two engines that do not respond leave the close hooks their time: handlers finish, and the process ends with 0', async () => {
  const engines = away.map(({ engine }) => engine)
  const both = queuesOf('frozen', engines)
  await Promise.all(both.map(({ kind }) => servers.get(kind)!.restart()))
  const worker = await startWorker(
    both.map((one) => one.with({ ms: 300 })),
    engines,
    // Time enough on a busy machine; were it over, the code would be 1.
    { closeTimeout: 8000 },
  )
  await each(both, async (one) => {
    await one.queue.publish(1, one.engine.impatiently)
    await one.until(() => one.notes('begin').length === 1, 'the handler')
  })
  for (const { kind } of both) servers.get(kind)!.freeze()
  worker.child.kill('SIGTERM')
  expect(await worker.exited, worker.output()).toBe(0)
  for (const { kind } of both) servers.get(kind)!.thaw()
  for (const one of both) expect(one.notes('end')).toHaveLength(1)
  expect(worker.output()).not.toMatch(/still working|close hook/)
  expect(worker.output()).toContain('did not learn which messages are handled')
})
