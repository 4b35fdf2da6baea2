import { spawn } from 'node:child_process'
import { get } from 'node:http'
import own from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../failure.ts'
import type { Messages } from '../process/channel.ts'
import { saidOf } from '../process/child.ts'
import { Worker } from '../start/worker.ts'
import { type Report, type RunHook, type State, topic } from './protocol.ts'

/** How the application is started. */
export interface Application {
  readonly program: string
  readonly args: readonly string[]
  readonly file: string
  /** The path of the readiness probe. */
  readonly health: string
  /** Milliseconds after which the platform kills an instance that closes. */
  readonly closeTimeout: number
}

/** How an instance closed. */
export interface Closing {
  readonly ms: number
  /** Such as `exit code 0`. */
  readonly ended: string
  readonly hooks: readonly RunHook[]
}

/** Milliseconds between two requests to the readiness probe. */
const probeMs = 100
/** Milliseconds within which an instance has to listen, and then to be ready. */
const bootMs = 60_000

/** What a probe gets until someone does something about it. */
const remedies: { readonly [probed: string]: string | undefined } = {
  404: 'Turn on the plugin (plugins: { health: true }), or name another route: --health <path>',
  ECONNREFUSED:
    'Let its server listen on the port in PORT, without an option "port": two instances run on this machine',
  ECONNRESET: 'Leave out the option "https" of its server: load balancers, such as this one, send plain HTTP',
}

/** One process of the application, and its readiness. It writes to the standard error of this one. */
export class Instance extends Worker {
  readonly name: string
  readonly port: number
  readonly reports = this.news as unknown as Messages<Report>
  isReady = false
  isKilled = false
  /** When it was asked to end. */
  endsAt: number | undefined
  #hooks: readonly RunHook[] = []
  readonly #application: Application
  #probed: number | string = 'no response'

  constructor(name: string, port: number, application: Application) {
    const start = (given: NodeJS.ProcessEnv) =>
      spawn(application.program, application.args, {
        env: { ...own.env, ...given, PORT: String(port), HOST: '127.0.0.1' },
        stdio: ['ignore', 2, 2, 'ipc'],
        serialization: 'json',
      })
    super({ spawn: start, of: 1, share: async () => port }, 1, true, () => Promise.reject(new Error('it leads')))
    this.name = `${name} of ${application.file}`
    this.port = port
    this.#application = application
    this.reports.each('hooks', ({ hooks }) => {
      this.#hooks = hooks
    })
  }

  /** The hooks that have begun; only those of the application, if it has any. */
  get begun(): string[] {
    const ofApplication = this.#hooks.filter(({ isOwn }) => isOwn)
    return (ofApplication.length > 0 ? ofApplication : this.#hooks).map(({ name }) => name)
  }

  /** @throws (as a rejection) CommandFailure if it does not respond, for example because it has ended. */
  state(): Promise<State> {
    return (this.ask(topic, undefined) as Promise<State>).catch(({ message }: Error) => {
      throw new CommandFailure(`${this.name} does not report its routes and queues: ${message}`)
    })
  }

  /** Ends it in the way of a platform: by SIGTERM, and by SIGKILL when its patience is over. */
  async close(): Promise<Closing> {
    this.endsAt = performance.now()
    this.stop('SIGTERM')
    const ended = await this.leave(this.#application.closeTimeout)
    const ms = Math.round(performance.now() - this.endsAt)
    return { ms, ended: saidOf(ended), hooks: this.#hooks }
  }

  /** Waits until it is ready. @throws (as a rejection) CommandFailure if it does not start, or is not ready. */
  async start(): Promise<this> {
    const booted = await Promise.race([this.booted, pause(bootMs, 'late', { ref: false })])
    if (booted !== true) {
      throw new CommandFailure(
        `${this.name} did not start: it ended with ${saidOf(await this.leave(0))} before it listened. If a port is in use, read it from the variable PORT: each instance gets a port of its own`,
      )
    }
    void this.#watch()
    for (let waited = 0; !this.isReady; waited += 20) {
      await pause(20)
      const why = this.isEnded || waited > bootMs ? 'Start what the application needs' : remedies[this.#probed]
      const probed = `GET ${this.#application.health} gets ${this.#probed}`
      if (why !== undefined && !this.isReady) throw new CommandFailure(`${this.name} is not ready: ${probed}. ${why}`)
    }
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
    sent.once('response', (response) => resolve(response.resume().statusCode!))
    sent.once('timeout', () => sent.destroy(new Error('no response')))
    sent.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}
