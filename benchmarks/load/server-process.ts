import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../../test/support/own-server.ts'
import { pinned, unpinned } from '../support/machine.ts'
import { nginxCommand, nginxTemplate } from '../support/nginx.ts'
import { type Runtime, serverCommand } from '../support/runtime.ts'
import type { Stage } from '../support/stage.ts'
import { type Exchange, firstAnswer } from './probe.ts'
import { exchangeOf, type ServerFile } from './servers.ts'

/** A server to measure: a server file of a stage. */
export interface Subject extends ServerFile {
  readonly name: string
  readonly stage: Stage
}

/** How a server is started. */
export interface Start {
  readonly runtime: Runtime
  /** Milliseconds between attempts to reach a server that does not answer yet. */
  readonly everyMs?: number
  /** Whether the server collects its garbage on demand. */
  readonly collects?: boolean
  /** `'all'`: the server may use every core. By default, it runs on core 0. */
  readonly cores?: 'all'
  /** The path of its log file; without it, the server has no log. */
  readonly logFile?: string
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A server in a process of its own, on core 0 unless it is one of several processes. */
export class ServerProcess {
  readonly subject: Subject
  readonly port: number
  /** When the process was started, as of `performance.now()`. */
  readonly startedAt: number
  /** The number of headers in its first response. */
  headers = 0
  readonly #child: ChildProcess
  #stderr = ''

  private constructor(
    subject: Subject,
    port: number,
    { runtime, cores, collects = false, logFile = '/dev/null' }: Start,
  ) {
    this.subject = subject
    this.port = port
    const own =
      subject.file === nginxTemplate
        ? nginxCommand(subject.stage.folder, port)
        : serverCommand(runtime, [subject.file, subject.scenario], collects)
    const [command, ...args] = cores === 'all' ? unpinned(own) : pinned(0, own)
    this.startedAt = performance.now()
    this.#child = spawn(command!, args, {
      cwd: subject.stage.folder,
      env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', PORT: String(port), LOG_FILE: logFile },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(0, 4000)
    })
    running.add(this.#child)
  }

  /** Starts a server and waits for its first correct answer. */
  static async start(subject: Subject, exchange: Exchange, start: Start): Promise<ServerProcess> {
    const server = new ServerProcess(subject, await freePort(), start)
    try {
      const died = new Promise<never>((_, reject) => {
        server.#child.once('error', reject)
        server.#child.once('exit', (code) => reject(new Error(`${subject.name} ended with ${code}: ${server.#stderr}`)))
      })
      const answered = firstAnswer(server.port, exchangeOf(subject, exchange), subject.name, start.everyMs ?? 25)
      server.headers = await Promise.race([answered, died])
      died.catch(() => {})
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** The server's own id: taskset replaces itself with the server. */
  get pid(): number {
    return this.#child.pid!
  }

  /**
   * Starts a server that collects its garbage once, in full, before it is loaded.
   *
   * Every server that has run for a while has done so. On Node 26 it changes what follows: for any server, `process.nextTick` takes
   * 7 to 13 % of the CPU afterwards and 1 to 2 % before; without this, the ratio showed which server had booted in less memory.
   */
  static async startSettled(subject: Subject, exchange: Exchange, runtime: Runtime): Promise<ServerProcess> {
    const server = await ServerProcess.start(subject, exchange, { runtime, collects: true })
    // nginx has no garbage to collect, and would take the signal as an order to replace its program.
    if (subject.file !== nginxTemplate) await server.collect()
    return server
  }

  /** Collects the garbage of a server that was started settled. */
  async collect(): Promise<void> {
    this.#child.kill('SIGUSR2')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }

  async stop(): Promise<void> {
    running.delete(this.#child)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await gone
  }
}
