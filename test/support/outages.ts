import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import {
  bullmqQueue,
  channel,
  memoryQueue,
  pgbossQueue,
  RouteCollection,
  S3StorageProvider,
  Server,
  type ServerOptions,
  sqsQueue,
} from 'framework'
import type { OutageKind } from 'framework/testing'
import { expect } from 'vitest'
import { memoryLogger } from './kernel.ts'
import { freshName, until } from './queues.ts'
import { s3Credentials } from './s3.ts'
import { sqsCredentials } from './sqs.ts'

/** What uses a service, and how. */
export interface User {
  /** One use, which resolves with its outcome: a status, or the code of an error. */
  call(): Promise<string>
  /** The outcome while all is well; default `'ok'`. */
  readonly usual?: string
  close(): Promise<unknown>
  readonly server?: Server
}

const secret = 'a secret of thirty-two characters'

function serverOf(plugins: object, more: Partial<ServerOptions> = {}): Server {
  const router = new RouteCollection()
  const options = {
    port: 0,
    host: '127.0.0.1',
    router,
    logger: memoryLogger(),
    plugins,
    gracefulShutdown: false,
    drainWindow: 0,
    ...more,
  }
  return new Server(options as never)
}

const outcome = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    return String((await work()) ?? 'ok')
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
}

export const users = {
  async session(store: unknown): Promise<User> {
    const server = serverOf({ session: { secret, store } })
    server.get('/', (req) => ({ ...req.session }))
    server.post('/', (req) => void Object.assign(req.session, { user: 'ada' }))
    let cookies = {}
    await until(async () => {
      const res = await server.inject.post('/')
      cookies = res.cookies()
      return res.statusCode() === 200
    }, 'a session')
    return {
      usual: '200 ada',
      async call() {
        const res = await server.inject.get('/', { cookies })
        const { code, user } = res.body<{ code?: string; user?: string }>()
        return `${res.statusCode()} ${code ?? user}`
      },
      close: () => server.close(),
      server,
    }
  },
  async cache(redis: unknown): Promise<User> {
    const server = serverOf({ cache: redis === 'memory' ? true : { provider: 'redis', redis } })
    let count = 0
    server.get('/', { cache: true }, () => ({ count: ++count }))
    return {
      usual: '200 HIT',
      async call() {
        const res = await server.inject.get('/')
        return `${res.statusCode()} ${res.headers()['x-cache']}`
      },
      close: () => server.close(),
      server,
    }
  },
  async data(redis: unknown): Promise<User> {
    const server = serverOf({ cache: redis === 'memory' ? true : { provider: 'redis', redis } })
    await server.ready()
    const cache = server.services.get('cache')
    let key = ''
    const read = () => cache.getOrSet(key, { ttl: 60 }, () => 'computed')
    await until(async () => {
      key = freshName('data')
      await cache.getOrSet(key, { ttl: 60 }, () => 'kept')
      return (await read()) === 'kept'
    }, 'the data')
    return {
      usual: 'kept',
      call: () => outcome(read),
      close: () => server.close(),
      server,
    }
  },
  async rateLimit(store: unknown, onStoreFailure: string): Promise<User> {
    const server = serverOf({ rateLimit: { store, limit: 2, windowMs: 60_000, onStoreFailure } })
    server.get('/', () => 'x')
    let client = Math.floor(Math.random() * 2 ** 24)
    const status = async () =>
      (await server.inject.get('/', { ip: `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}` })).statusCode()
    return {
      usual: '200 200 429',
      async call() {
        client++
        return [await status(), await status(), await status()].join(' ')
      },
      close: () => server.close(),
      server,
    }
  },
  async locks(store: unknown): Promise<User> {
    const server = serverOf({ locks: { store } })
    await server.ready()
    const locks = server.services.get('locks')
    const key = freshName('lock')
    return { call: () => outcome(() => locks.withLock(key, {}, () => {})), close: () => server.close(), server }
  },
  async channels(store: unknown): Promise<User> {
    const news = channel('news', { join: () => true })
    const server = serverOf({ websocket: true, channels: { store } })
    server.ws('/', { channels: [news] }, {})
    await server.ready()
    return {
      call: () =>
        outcome(() =>
          news
            .for(server)
            .publish('x')
            .then(() => 'ok'),
        ),
      close: () => server.close(),
      server,
    }
  },
  async bullmq(connection: unknown): Promise<User> {
    return queueUser(bullmqQueue<string>(freshName('outage')), { bullmq: { connection, publishTimeout: 2_000 } })
  },
  async pgboss(connectionString: unknown): Promise<User> {
    return queueUser(pgbossQueue<string>(freshName('outage')), { pgboss: { connectionString, publishTimeout: 2_000 } })
  },
  async sqs(endpoint: unknown): Promise<User> {
    const sqs = { endpoint, region: 'us-east-1', credentials: sqsCredentials, publishTimeout: 2_000 }
    const client = new SQSClient({ region: sqs.region, endpoint: endpoint as string, credentials: sqsCredentials })
    const name = freshName('outage')
    await client.send(new CreateQueueCommand({ QueueName: name }))
    client.destroy()
    return queueUser(sqsQueue<string>(name), { sqs })
  },
  async storage(provider: unknown): Promise<User> {
    const server = serverOf({ storage: { providers: { main: provider } } })
    await server.ready()
    const storage = server.services.get('storage')
    await until(async () => (await outcome(() => storage.putObject('a.txt', 'kept'))) === 'ok', 'the object')
    return {
      usual: 'kept',
      call: () => outcome(() => storage.getObject('a.txt', 'text')),
      close: () => server.close(),
      server,
    }
  },
  async mqtt(connect: object): Promise<User> {
    const times = { publishTimeout: 1_000, reconnectDelay: 50, maxReconnectDelay: 300 }
    const server = serverOf({ mqtt: { connect: { ...times, ...connect } } })
    await server.listen()
    const publish = () => server.services.get('mqtt').publish('outage' as never, 'x' as never, { qos: 1 } as never)
    return { call: () => outcome(() => publish().then(() => 'ok')), close: () => server.close(), server }
  },
  async mailer(transporter: unknown): Promise<User> {
    const providers = { main: { transporter, from: 'a@example.org' } }
    const server = serverOf({ mailer: { providers, defaultProvider: 'main', timeout: 1_000 } })
    await server.ready()
    const mailer = server.services.get('mailer')
    const send = () => mailer.send((mail) => mail.to('b@example.org').subject('x').text('x'))
    return { call: () => outcome(() => send().then(() => 'ok')), close: () => server.close(), server }
  },
  async memoryQueue(): Promise<User> {
    return queueUser(memoryQueue<string>(freshName('outage')), {})
  },
}

async function queueUser(
  queue: { for(server: Server): { publish(payload: string): Promise<unknown> } },
  config: object,
): Promise<User> {
  const server = serverOf({ queues: { config, run: true } })
  await server.listen()
  const publish = () => queue.for(server).publish('x')
  return { call: () => outcome(() => publish().then(() => 'ok')), close: () => server.close(), server }
}

export const s3At = (endpoint: string) =>
  new S3StorageProvider({ bucket: 'objects', endpoint, credentials: s3Credentials, timeout: 1_000 })

/** What is promised of an outage. */
export interface Promised {
  /** The outcome of each use while it lasts; for some, by the kind. */
  readonly outcome: string | { readonly [Kind in OutageKind]: string }
  /** The time limit of the first use in milliseconds; default that of each. */
  readonly limit: number
  /** That of the next ones. Default: the same; `undefined`: there are none. */
  readonly next?: number | undefined
}

/** For a busy machine; drivers wait for half a minute or longer. */
const margin = 20_000

/** Begins an outage, uses the service three times, ends it, and waits until a use has the same outcome as before. */
export async function expectOutage(
  user: User,
  begin: (kind: OutageKind) => { restore(): void },
  kind: OutageKind,
  { outcome, limit, ...more }: Promised,
): Promise<void> {
  const { usual = 'ok' } = user
  // A busy service may exceed a limit, and a cache has its data from the second use on.
  const isUsual = async () => (await user.call()) === usual
  await until(isUsual, usual)
  const outage = begin(kind)
  const expected = typeof outcome === 'string' ? outcome : outcome[kind]
  const next = 'next' in more ? more.next : limit
  for (const ms of next === undefined ? [limit] : [limit, next, next]) {
    const start = performance.now()
    expect(await user.call()).toBe(expected)
    expect(performance.now() - start).toBeLessThan(ms + margin)
  }
  outage.restore()
  await until(isUsual, `${kind} is over: ${usual}`)
}
