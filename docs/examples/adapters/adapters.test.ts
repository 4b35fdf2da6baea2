import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Mailer } from 'framework'
import { testQueueEngine, testRateLimitStore, testSessionStore, testStorageProvider } from 'framework/testing/contracts'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    await pool.end()
    await postgres.stop()
  })

  testSessionStore(() => new PostgresSessions(pool), { test })
  testRateLimitStore(() => new PostgresLimits(pool), { test })
  testStorageProvider(() => new PostgresObjects(pool), { test })
  testQueueEngine(() => new PostgresMessages(pool), { test, once: false, priority: false })

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
