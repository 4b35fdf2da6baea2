import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createQueue, Mailer, QueueService } from 'framework'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeStore } from '../../../test/contracts/session-store.ts'
import { testProvider } from '../../../test/contracts/storage-provider.ts'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { MailApi } from './emails.ts'
import { PostgresLimits } from './limits.ts'
import { PostgresMessages } from './messages.ts'
import { PostgresObjects } from './objects.ts'
import { makeServer, tables } from './server.ts'
import { PostgresSessions } from './sessions.ts'

describe.skipIf(!hasPostgres)('in Postgres', () => {
  let postgres: OwnServer
  let pool: Pool
  beforeAll(async () => {
    postgres = await startPostgres()
    pool = new Pool({ connectionString: postgres.url })
    // Connections that Postgres ends when it stops.
    pool.on('error', () => {})
    await pool.query(tables)
  })
  afterAll(async () => {
    await QueueService.stop()
    await pool.end()
    await postgres.stop()
  })

  describeStore('PostgresSessions', () => new PostgresSessions(pool))

  describe('the contract of a storage provider', () => {
    testProvider({ start: async () => new PostgresObjects(pool), stop: async () => {} })
  })

  test('limits: each of many requests at the same time counts, and a window that is over begins anew', async () => {
    const store = new PostgresLimits(pool)
    const hits = await Promise.all(Array.from({ length: 20 }, () => store.hit('GET /login 192.0.2.1', 60_000)))
    expect(hits.map(({ count }) => count).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expect(hits.every(({ resetMs }) => resetMs > 0 && resetMs <= 60_000)).toBe(true)
    expect(await store.hit('GET /login 192.0.2.2', 100)).toMatchObject({ count: 1 })
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(await store.hit('GET /login 192.0.2.2', 60_000)).toMatchObject({ count: 1 })
  })

  test('messages: one that fails is tried again, one without attempts left is dead, each is handled by one worker', async () => {
    const messages = new PostgresMessages(pool)
    const queue = createQueue<{ n: number }>('adapters', messages)
    const seen: string[] = []
    const dead: number[] = []
    for (const worker of ['a', 'b']) {
      await queue.subscribe(
        async ({ n }, { attempt }) => {
          seen.push(`${n}.${attempt}`)
          if (n === 1 && attempt === 1) throw new Error(`worker ${worker} fails once`)
          if (n === 2) throw new Error('never')
        },
        { concurrency: 2, onDead: ({ n }) => void dead.push(n) },
      )
    }
    await QueueService.run()
    await queue.publishMany([{ n: 0 }, { n: 1 }, { n: 2 }], { attempts: 2 })
    const done = { waiting: 0, active: 0, delayed: 0, failed: 1 }
    await expect.poll(() => messages.counts('adapters'), { timeout: 10_000 }).toEqual(done)
    expect(seen.sort()).toEqual(['0.1', '1.1', '1.2', '2.1', '2.2'])
    expect(dead).toEqual([2])
    await QueueService.stop()
  })

  test('a server with all of them', async () => {
    await using made = makeServer({ pool, mailApi: { url: 'http://127.0.0.1:1', token: 't' } }).server
    const first = await made.inject.post('/visits')
    const cookies = { sid: first.cookie('sid')!.value }
    ;(await made.inject.post('/visits', { cookies })).assertBodyDeepEqual({ visits: 2 })
    await made.inject.post('/visits', { cookies })
    ;(await made.inject.post('/visits', { cookies })).assertStatus(429)
    await made.services.storage.putObject('a.txt', 'text')
    expect(await made.services.storage.getObject('a.txt', 'text')).toBe('text')
  })
})

const makeMailer = (transporter: MailApi) =>
  new Mailer({ main: { transporter, from: 'Shop <shop@example.org>' } }, { defaultProvider: 'main' })

describe('an email by HTTP', () => {
  let mailer: ReturnType<typeof makeMailer>
  const received: { token: string | undefined; mail: unknown }[] = []
  let status = 202
  const api = createServer(async (req, res) => {
    received.push({ token: req.headers.authorization, mail: await json(req) })
    res.writeHead(status).end()
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
    mailer = makeMailer(new MailApi({ url, token: 'secret' }))
  })
  afterAll(async () => {
    await mailer.close()
    api.close()
  })
  const hello = () => mailer.send((mail) => mail.to('Ada <ada@example.org>').subject('Hello').text('Hello Ada'))

  test('arrives whole, and once', async () => {
    expect(await hello()).toMatchObject({ accepted: ['ada@example.org'] })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({
      token: 'Bearer secret',
      mail: { to: [{ name: 'Ada', email: 'ada@example.org' }], subject: 'Hello', text: 'Hello Ada' },
    })
  })

  test.each([
    [422, 554],
    [503, 451],
  ])('a response with %i is a failure, for good or not', async (answered, responseCode) => {
    status = answered
    await expect(hello()).rejects.toMatchObject({ code: 'MailSendError', cause: { responseCode } })
  })
})
