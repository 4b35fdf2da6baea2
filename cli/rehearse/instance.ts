import { type ChildProcess, spawn } from 'node:child_process'
import { get } from 'node:http'
import own from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { isInTime } from '../../kernel/support/within.ts'
import { CommandFailure } from '../failure.ts'
import type { Messages } from '../process/channel.ts'
import { Worker } from '../start/worker.ts'
import { type Closing, type Described, type Left, type Report, type RunHook, topics } from './protocol.ts'

/** How the application is started. */
export interface Application {
  readonly program: string
  readonly args: readonly string[]
  readonly file: string
  /** The path of the readiness probe. */
  readonly health: string
}

/** Milliseconds between two requests to the readiness probe. */
const probeMs = 100
/** Milliseconds within which an instance has to listen, and then to be ready. */
const bootMs = 60_000
/** How much of its output is kept. */
const outputLength = 4000

/** What a probe gets until someone does something about it. */
const remedies: { readonly [probed: string]: string | undefined } = {
  404: 'Turn on the plugin (plugins: { health: true }), or name another route: --health <path>',
  ECONNREFUSED:
    'Let its server listen on the port in PORT, without an option "port": two instances run on this machine',
  ECONNRESET: 'Leave out the option "https" of its server: load balancers, such as this one, send plain HTTP',
}

/** One process of the application, and its readiness. */
export class Instance extends Worker {
  readonly name: string
  readonly port: number
  readonly reports: Messages<Report>
  isReady = false
  /** When it was asked to end. */
  endsAt: number | undefined
  /** The last part of what it has written while it was not ready. */
  output = ''
  /** What requests have thrown while it closes, by path. */
  readonly errors = new Map<string, string>()
  readonly #hooks: RunHook[] = []
  readonly #application: Application
  #probed: number | string = 'no response'

  constructor(name: string, port: number, application: Application) {
    let child: ChildProcess
    const start = (env: NodeJS.ProcessEnv) => {
      const all = { ...own.env, ...env, PORT: String(port), HOST: '127.0.0.1' }
      const stdio: ('ignore' | 'pipe' | 'ipc')[] = ['ignore', 'pipe', 'pipe', 'ipc']
      child = spawn(application.program, application.args, { env: all, stdio, serialization: 'json' })
      return child
    }
    super({ spawn: start, of: 1, share: async () => port }, 1, true, () => Promise.reject(new Error('it leads')))
    this.name = name
    this.port = port
    this.#application = application
    for (const stream of [child!.stdout!, child!.stderr!])
      stream.on('data', (chunk: Buffer) => {
        if (!this.isReady) this.output = (this.output + chunk.toString()).slice(-outputLength)
      })
    this.reports = this.news as unknown as Messages<Report>
    this.reports.each('hook', ({ number, hook }) => void this.#hooks.splice(number, 1, hook))
    this.reports.each('failure', ({ path, message }) => void this.errors.set(path, message))
  }

  /** The hooks that have begun; only those of the application, if it has any. */
  get begun(): string[] {
    const ofApplication = this.#hooks.filter(({ isOwn }) => isOwn)
    return (ofApplication.length > 0 ? ofApplication : this.#hooks).map(({ name }) => name)
  }

  routes = () => this.ask(topics.routes, undefined) as Promise<Described>
  left = () => this.ask(topics.left, undefined) as Promise<Left>

  /** Ends it in the way of a platform: by SIGTERM, and by SIGKILL when its patience is over. */
  async close(patience: number): Promise<Closing> {
    this.endsAt = performance.now()
    if (patience > 0) this.stop('SIGTERM')
    const { code, signal } = await this.leave(patience)
    const ms = Math.round(performance.now() - this.endsAt!)
    return { ms, ended: signal ?? `exit code ${code}`, hooks: this.#hooks }
  }

  /** Waits until it is ready. @throws (as a rejection) CommandFailure if it does not start, or is not ready. */
  async start(): Promise<this> {
    const { file, health } = this.#application
    if (!(await isInTime(this.booted, bootMs)) || (await this.booted) !== 'listening') {
      const { signal, code } = await this.leave()
      throw new CommandFailure(
        `${file} did not start as ${this.name}, which ended with ${signal ?? `exit code ${code}`} before it listened. If a port is in use: each instance gets a port of its own in PORT, so read all ports from variables\n${this.output}`,
      )
    }
    void this.#watch()
    for (let waited = 0; !this.isReady; waited += 20) {
      await pause(20)
      const why = this.isEnded || waited > bootMs ? 'Start what the application needs' : remedies[this.#probed]
      if (why !== undefined && !this.isReady)
        throw new CommandFailure(`${file} is not ready as ${this.name}: GET ${health} gets ${this.#probed}. ${why}`)
    }
    this.output = ''
    return this
  }

  async #watch(): Promise<void> {
    while (!this.isEnded) {
      this.#probed = await probe(this.port, this.#application.health)
      this.isReady = this.#probed === 200 && !this.isEnded
      await pause(probeMs)
    }
    this.isReady = false
  }
}

/** The status of the response to a probe, or why there is none. */
function probe(port: number, path: string): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = get({ host: '127.0.0.1', port, path, agent: false, timeout: 5000 })
    sent.once('response', (answer) => resolve(answer.resume().statusCode!))
    sent.once('timeout', () => sent.destroy(new Error('no response')))
    sent.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}
