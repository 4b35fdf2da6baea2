import { Writable } from 'node:stream'
import { hasMosquitto, startMosquitto } from '../../test/support/mosquitto.ts'
import { hasPostgres, startPostgres } from '../../test/support/postgres.ts'
import { hasRedis, startRedis } from '../../test/support/redis.ts'
import { startS3 } from '../../test/support/s3.ts'
import { startSmtp } from '../../test/support/smtp.ts'

/** The servers for the service suites, by the names that a table shows when they are missing. */
export type ServiceName = 'redis-server' | 'postgres' | 'mosquitto' | 'smtp-server' | 's3rver'

/** The addresses of the servers that are running. */
export type Services = Readonly<Partial<Record<ServiceName, string>>>

interface Running {
  readonly url: string
  stop(): Promise<void>
}

async function startMailSink(): Promise<Running> {
  const { port, stop } = await startSmtp({
    onData(stream, _session, done) {
      stream.pipe(new Writable({ write: (_chunk, _encoding, next) => next() })).once('finish', () => done())
    },
  })
  return { url: `smtp://127.0.0.1:${port}`, stop }
}

/** Starts the same servers as the tests do; `undefined` for a server that is not installed. */
const starters: Readonly<Record<ServiceName, () => Promise<Running> | undefined>> = {
  'redis-server': () => (hasRedis ? startRedis() : undefined),
  postgres: () => (hasPostgres ? startPostgres() : undefined),
  // By default, mosquitto loses messages of a fast publisher, and delays small packets by 40 ms.
  mosquitto: () => (hasMosquitto ? startMosquitto('max_queued_messages 0', 'set_tcp_nodelay true') : undefined),
  'smtp-server': startMailSink,
  s3rver: startS3,
}

/** The servers for a whole measurement. They run on the core of this process, not on that of the measured code. */
export class ServicesOfRun {
  readonly #running: Running[] = []
  readonly #urls: Partial<Record<ServiceName, string>> = {}

  async start(names: readonly ServiceName[]): Promise<Services> {
    for (const name of new Set(names)) {
      const running = await starters[name]()
      if (running === undefined) continue
      this.#running.push(running)
      this.#urls[name] = running.url
    }
    return this.#urls
  }

  async stop(): Promise<void> {
    for (const running of this.#running.splice(0)) await running.stop()
  }
}
