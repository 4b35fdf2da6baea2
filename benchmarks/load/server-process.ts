import { type ChildProcess, spawn } from 'node:child_process'
import { pinned, unpinned } from '../support/machine.ts'
import { nginxCommand, nginxTemplate } from '../support/nginx.ts'
import { type Runtime, serverCommand } from '../support/runtime.ts'
import type { Stage } from '../support/stage.ts'
import { type Exchange, firstAnswer, freePort } from './probe.ts'

/** A measured server: a server file of a stage. */
export interface Subject {
  readonly name: string
  readonly stage: Stage
  /** A file of the stage, and the scenario that it serves. */
  readonly file: string
  readonly scenario: string
}

/** How a server is started. */
export interface Start {
  readonly runtime: Runtime
  /** How often to retry a server that does not answer yet. */
  readonly everyMs?: number
  /** Whether it collects its garbage on demand. */
  readonly collects?: boolean
  /** Core 0, unless it has all. */
  readonly cores?: 'all'
  /** Its log file; none without. */
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
  /** When the process was started. */
  readonly startedAt: number
  /** How many headers its first answer had. */
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

  /** Starts a server and waits for its first right answer. */
  static async start(subject: Subject, exchange: Exchange, start: Start): Promise<ServerProcess> {
    const server = new ServerProcess(subject, await freePort(), start)
    try {
      const died = new Promise<never>((_, reject) => {
        server.#child.once('error', reject)
        server.#child.once('exit', (code) => reject(new Error(`${subject.name} ended with ${code}: ${server.#stderr}`)))
      })
      const answered = firstAnswer(server.port, exchange, subject.name, start.everyMs ?? 25)
      server.headers = await Promise.race([answered, died])
      died.catch(() => {})
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** taskset replaces itself by the server, so this is the server's own. */
  get pid(): number {
    return this.#child.pid!
  }

  /**
   * Starts a server that collects its garbage once, in full, before it is loaded.
   *
   * Every server of some age has done so. On Node 26 it changes what follows: `process.nextTick` takes 7 to 13 % of the
   * CPU afterwards and 1 to 2 % before, for any server; without this the ratio showed which one had booted in less memory.
   */
  static async startSettled(subject: Subject, exchange: Exchange, runtime: Runtime): Promise<ServerProcess> {
    const server = await ServerProcess.start(subject, exchange, { runtime, collects: true })
    // It has none to collect, and would interpret the signal as one to replace its program.
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
