import { type OutageKind, outageOf, outageProxy } from 'framework/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMosquitto } from '../../support/mosquitto.ts'
import { expectOutage, type Promised, s3At, type User, users } from '../../support/outages.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { startS3 } from '../../support/s3.ts'
import { startSmtp } from '../../support/smtp.ts'
import { startSqs } from '../../support/sqs.ts'

const kinds: OutageKind[] = ['down', 'slow', 'cut', 'lies']

interface Service {
  readonly url: string
  stop(): Promise<unknown>
}

type Users = Record<string, [open: (url: string) => Promise<User>, promised: Promised]>

/** The rows of the tables in docs/plugins: what each plugin does while its service is away. */
const outages: { service: string; start: () => Promise<Service>; plugins: Users }[] = []

function outagesOf(service: string, start: () => Promise<Service>, plugins: Users): void {
  outages.push({ service, start, plugins })
}

const noLock = { outcome: 'LockStoreError', limit: 2_000 }
const noQueue = { outcome: 'QueueUnavailableError', limit: 2_000 }

outagesOf('Redis', startRedis, {
  session: [(redis) => users.session({ redis }), { outcome: '503 SessionStoreError', limit: 2_000, next: 0 }],
  'cache of responses': [(redis) => users.cache(redis), { outcome: '200 BYPASS', limit: 200, next: 0 }],
  'cache of data': [(redis) => users.data(redis), { outcome: 'computed', limit: 200, next: 0 }],
  'rateLimit, count': [(redis) => users.rateLimit({ redis }, 'count'), { outcome: '200 200 429', limit: 250, next: 0 }],
  'rateLimit, refuse': [
    (redis) => users.rateLimit({ redis }, 'refuse'),
    { outcome: '503 503 503', limit: 250, next: 0 },
  ],
  locks: [(redis) => users.locks({ redis }), noLock],
  channels: [(redis) => users.channels({ redis }), { outcome: 'ChannelUnavailableError', limit: 2_000, next: 0 }],
  queues: [(redis) => users.bullmq(redis), noQueue],
})

outagesOf('Postgres', startPostgres, {
  locks: [(postgres) => users.locks({ postgres }), noLock],
  queues: [(url) => users.pgboss(url), noQueue],
})

outagesOf('SQS', startSqs, { queues: [(url) => users.sqs(url), noQueue] })

outagesOf('S3', startS3, {
  storage: [(url) => users.storage(s3At(url)), { outcome: 'StorageUnavailableError', limit: 1_000 }],
})

const at = async <Own extends { readonly port: number }>(protocol: string, own: Own) =>
  Object.assign(own, { url: `${protocol}://127.0.0.1:${own.port}` })

outagesOf('MQTT', async () => at('mqtt', await startMosquitto()), {
  mqtt: [(url) => users.mqtt({ url }), { outcome: 'MqttUnavailableError', limit: 1_000 }],
})

outagesOf('SMTP', async () => at('smtp', await startSmtp()), {
  mailer: [(url) => users.mailer(url), { outcome: 'MailSendError', limit: 1_000 }],
})

const running = new Map<string, Service>()

beforeAll(async () => {
  await Promise.all(outages.map(async ({ service, start }) => running.set(service, await start())))
})
afterAll(() => Promise.all([...running.values()].map((own) => own.stop())))

const cases = outages.flatMap(({ service, plugins }) =>
  Object.entries(plugins).flatMap(([name, [open, promised]]) =>
    kinds.map((kind) => [`${service}, ${name}: ${kind}`, service, kind, open, promised] as const),
  ),
)
// They wait for limits of time, side by side.
vi.setConfig({ maxConcurrency: 10 })
test.concurrent.for(cases)('%s', async ([, service, kind, open, promised]) => {
  await using proxy = await outageProxy(running.get(service)!.url)
  const user = await open(proxy.url)
  try {
    await expectOutage(user, (one) => proxy.outage(one), kind, promised)
  } finally {
    await user.close()
  }
})

describe.concurrent('queues of a real engine, by outageOf', () => {
  const promised = { outcome: 'QueueUnavailableError', limit: 5_000, next: undefined }
  const engines = { Redis: users.bullmq, Postgres: users.pgboss, SQS: users.sqs }
  const all = Object.entries(engines).flatMap(([service, open]) => kinds.map((kind) => [service, kind, open] as const))
  test.for(all)('%s: %s', async ([service, kind, open]) => {
    const user = await open(running.get(service)!.url)
    try {
      await expectOutage(user, () => outageOf(user.server!, 'queues', kind), kind, promised)
    } finally {
      await user.close()
    }
  })
})

describe('a proxy', () => {
  test('takes an address with a host and a port', async () => {
    for (const wrong of ['redis', 'redis://127.0.0.1', '/tmp/redis.sock'])
      await expect(outageProxy(wrong)).rejects.toMatchObject({ code: 'OptionError' })
    await using proxy = await outageProxy('redis://user:secret@[::1]:6379/3')
    expect(proxy.url).toMatch(/^redis:\/\/user:secret@127\.0\.0\.1:\d+\/3$/)
    await using other = await outageProxy('gopher://127.0.0.1:70')
    expect(other.url).toMatch(/^gopher:\/\/127\.0\.0\.1:\d+$/)
    expect(() => proxy.outage('gone' as never)).toThrow('down')
    expect(() => proxy.outage('slow', { delay: -1 })).toThrow('delay')
  })
})
