import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineQueueConfiguration, QueueService } from 'framework'
import { afterAll, beforeAll } from 'vitest'
import type { OwnServer } from './own-server.ts'
import { type ServedEngine, servedEngines } from './queue-engines.ts'
import { freshName, until } from './queues.ts'

interface Note {
  readonly what: string
  readonly payload: number
  readonly pid: number
}

/** A queue of an engine, with the notes of its workers. */
export class Noted {
  readonly kind: string
  readonly engine: ServedEngine
  readonly name: string
  readonly #file: string

  constructor(engine: ServedEngine, what: string, folder: string) {
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

export interface Worker {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  /** What it has printed. */
  output(): string
}

const root = join(import.meta.dirname, '../..')

/** The engines that this machine has, with a server each for the tests of the file, whose process publishes to them, and workers in further processes. */
export function workersOf(kinds: readonly string[]) {
  const used = servedEngines.filter(({ kind, isThere }) => isThere && kinds.includes(kind))
  const folder = mkdtempSync(join(tmpdir(), 'framework-queues-'))
  const servers = new Map<string, OwnServer>()
  const workers = new Set<Worker>()
  const configOf = (engines: readonly ServedEngine[]) =>
    Object.assign({}, ...engines.map((engine) => engine.config(servers.get(engine.kind)!.url, engine.impatient)))

  beforeAll(async () => {
    if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
    await Promise.all(used.map(async (engine) => servers.set(engine.kind, await engine.start())))
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
  return {
    used,
    servers,
    /** Those that run. */
    workers,
    /** A queue of each engine. */
    queuesOf: (what: string, engines = used) => engines.map((engine) => new Noted(engine, what, folder)),
    /** A worker of these queues, of all engines or of some. */
    async startWorker(queues: readonly object[], engines = used, more: object = {}): Promise<Worker> {
      const script = join(import.meta.dirname, '../plugins/fixtures/queues-worker.mjs')
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
    },
  }
}

/** What holds of each engine, side by side: most of the time they wait for the end of a lock. */
export const each = (queues: readonly Noted[], holds: (one: Noted) => Promise<unknown>) =>
  Promise.all(queues.map(holds))
