import {
  afterCommit,
  createQueue,
  type DatabaseClient,
  definePlugin,
  type MailBuilder,
  memoryQueue,
  memoryTransport,
  mqtt,
  once,
  Server,
} from 'framework'
import { database } from 'framework/plugins'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { deliverFromOutbox } from '../../../plugins/shared/work/outbox.ts'
import { outboxFor } from '../../../plugins/shared/work/transactions.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

declare module 'framework' {
  interface MqttTopics {
    'outbox/new': { n: number }
  }
}

let postgres: OwnServer
let mariadb: OwnServer
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres()
  if (hasMariadb) mariadb = await startMariadb()
})
afterAll(() => Promise.all([postgres?.stop(), mariadb?.stop()]))

let count = 0
/** An own table, because the cases share a server. */
const tables = () => ({ outbox: { table: `outbox_${++count}`, pollInterval: 50 }, inbox: { table: `inbox_${count}` } })

const kinds = [
  { name: 'SQLite', skip: false, options: () => ({ url: 'sqlite::memory:', ...tables() }) },
  { name: 'pg', skip: !hasPostgres, options: () => ({ url: postgres.url, ...tables() }) },
  {
    name: 'Postgres.js',
    skip: !hasPostgres,
    options: () => ({ url: postgres.url, driver: 'postgres' as const, ...tables() }),
  },
  { name: 'mysql2', skip: !hasMariadb, options: () => ({ url: mariadb.url, ...tables() }) },
]

const client = (server: Server): DatabaseClient => server.services.get('databases').client()
const waiting = (server: Server) => server.services.get('databases').outboxes()

for (const { name, skip, options } of kinds)
  describe.skipIf(skip)(name, () => {
    test('delivers what was committed, in the order of its key, and nothing that was rolled back', async () => {
      const queue = memoryQueue<{ n: number }>(`outbox-${name}-order`)
      const seen: { n: number; id: string }[] = []
      await using server = new Server({
        port: 0,
        background: { queues: { run: true } },
        plugins: { database: options() },
      })
      await queue.subscribe(({ n }, { id }) => void seen.push({ n, id }))
      await server.listen()
      const ids: string[] = []
      for (let n = 0; n < 20; n++)
        await client(server)
          .transaction(async () => {
            await client(server).query('select 1')
            const { id } = await queue.publish({ n })
            if (n % 5 === 4) throw new Error('no')
            ids.push(id)
          })
          .catch(() => {})
      await expect.poll(() => seen.length).toBe(16)
      expect(seen.map(({ n }) => n)).toEqual([...Array(20).keys()].filter((n) => n % 5 !== 4))
      expect(seen.map(({ id }) => id)).toEqual(ids)
      await expect.poll(() => waiting(server)).toEqual([])
    })

    test('a message that cannot be delivered stays and stops those of its key, and no others', async () => {
      const good = memoryQueue<{ n: number }>(`outbox-${name}-good`)
      const seen: number[] = []
      await using server = new Server({
        port: 0,
        background: { queues: { run: true } },
        plugins: { database: options() },
      })
      await good.subscribe(({ n }) => void seen.push(n))
      await server.listen()
      let isAway = true
      const poison: number[] = []
      deliverFromOutbox(server, 'test', async ({ n }: { n: number }) => {
        if (isAway) throw new Error('away')
        poison.push(n)
      })
      await client(server).transaction(async () => {
        for (const n of [1, 2]) await outboxFor(server)!({ sender: 'test', key: 'poison', data: { n } })
        await outboxFor(server)!({ sender: 'gone', key: 'a', data: {} })
        await good.publish({ n: 3 })
      })
      await expect.poll(() => seen).toEqual([3])
      await expect
        .poll(async () => (await waiting(server)).map(({ sender, messages }) => [sender, messages]))
        .toEqual([
          ['gone', 1],
          ['test', 2],
        ])
      isAway = false
      await expect.poll(() => poison).toEqual([1, 2])
    })

    test('a message that its engine refuses for good stays without another attempt, and stops no others', async () => {
      const sent: string[] = []
      const publish = async (_topic: string, payload: unknown) => {
        sent.push(String(payload))
        // Quoting what was refused, as messages of errors do.
        if (payload === 'bad') throw Object.assign(new Error('not \0'), { code: 'QueuePayloadError' })
        return { id: 'x' }
      }
      const queue = createQueue<string>(`outbox-${name}-refused`, {
        publish,
        async subscribe() {},
        async unsubscribe() {},
      })
      await using server = new Server({ port: 0, background: { queues: {} }, plugins: { database: options() } })
      await server.listen()
      for (const text of ['first', 'bad', 'last']) await client(server).transaction(() => queue.publish(text))
      await expect.poll(() => sent).toEqual(['first', 'bad', 'last'])
      await expect.poll(() => waiting(server)).toMatchObject([{ sender: 'queues refused', messages: 1 }])
      const { rows } = await client(server).query(`select due_at, error from outbox_${count}`)
      expect(rows).toEqual([{ due_at: expect.any(Number), error: 'not \ufffd' }])
      expect(Number(rows[0]!.due_at)).toBeGreaterThan(Date.now() + 1e14)
    })

    test('what a closed process has left is delivered by another', async () => {
      if (name === 'SQLite') return
      const database = options()
      const seen: unknown[] = []
      const first = new Server({ port: 0, plugins: { database } })
      await first.listen()
      await client(first).transaction(() =>
        outboxFor(first)!({ sender: 'test', key: 'a', data: { bytes: new Uint8Array([0, 255]) } }),
      )
      await first.close()
      await using second = new Server({ port: 0, plugins: { database } })
      deliverFromOutbox(second, 'test', async (data) => void seen.push(data))
      await second.listen()
      await expect.poll(() => seen).toEqual([{ bytes: Buffer.from([0, 255]) }])
    })

    test('closing ends what is being delivered, and leaves a backlog to others', async () => {
      const seen: string[] = []
      const begun = deferred()
      const release = deferred()
      let left: unknown
      const before = definePlugin({
        name: 'before',
        // In the next turn, when the outbox drains as well.
        setup: (ctx) => void ctx.onDrain(() => void setImmediate(release.resolve)),
      })
      const after = definePlugin({
        name: 'after',
        setup: (ctx) =>
          void ctx.onClose(async () => {
            left = await waiting(server)
          }),
      })
      const server = new Server({ port: 0, plugins: [before, database(options()), after] })
      deliverFromOutbox(server, 'test', async ({ key }: { key: string }) => {
        if (seen.push(key) === 10) begun.resolve()
        await release.promise
      })
      await server.listen()
      const keys = [...'abcdefghijklmno']
      for (let i = 0; i < 2; i++)
        await client(server).transaction(async () => {
          for (const key of keys) await outboxFor(server)!({ sender: 'test', key, data: { key } })
        })
      await begun.promise
      await server.close()
      expect([seen.length, left]).toEqual([10, [expect.objectContaining({ sender: 'test', messages: 20 })]])
    })

    test('emails and MQTT are delivered, with bytes and ids', async () => {
      const transporter = memoryTransport()
      const news: number[] = []
      await using server = new Server({
        port: 0,
        background: { mqtt: { connect: { provider: 'memory' } } },
        plugins: {
          database: options(),
          mailer: { defaultProvider: 'main', providers: { main: { from: 'a@b.example', transporter } } },
        },
      })
      await server.listen()
      server.services.get('mqtt').subscribe('outbox/new', ({ n }) => void news.push(n))
      const content = new Uint8Array([0, 255])
      const ids = await client(server).transaction(async () => {
        const mailer = server.services.get('mailer')
        for (const n of [1, 2, 3]) await mqtt.publish('outbox/new', { n })
        const write = (subject: string) => (mail: MailBuilder) =>
          mail.to('c@d.example').subject(subject).text('new').attachment({ filename: 'a.bin', content })
        const receipts = [await mailer.send(write('now')), await mailer.later(write('later'))]
        expect(transporter.sent).toEqual([])
        return receipts.map(({ id }) => id)
      })
      await expect.poll(() => transporter.sent.length).toBe(2)
      expect(transporter.sent.map(({ messageId }) => messageId).sort()).toEqual(ids.sort())
      expect(transporter.sent[0]!.attachments[0]!.content).toEqual(Buffer.from(content))
      await expect.poll(() => news).toEqual([1, 2, 3])
      await expect.poll(() => waiting(server)).toEqual([])
    })

    test('once does something once, with its changes', async () => {
      await using server = new Server({ port: 0, plugins: { database: options() } })
      await server.ready()
      const table = `effects_${name === 'pg' ? 'a' : 'b'}`
      await client(server).query(`create table ${table} (n integer)`)
      const insert = () => client(server).query(`insert into ${table} values (1)`)
      const done = (id: string, work: () => unknown = insert) => client(server).transaction(() => once(id, work))
      expect(await done('a')).toBe(true)
      expect(await done('a')).toBe(false)
      const results = await Promise.all(['b', 'b', 'b'].map((id) => done(id)))
      // Which of the three connections is the first, no one knows.
      expect(results.filter(Boolean)).toHaveLength(1)
      const fails = async () => {
        await insert()
        throw new Error('no')
      }
      // Code that catches the failure commits neither the change nor the id.
      await client(server).transaction(() => once('c', fails).catch(() => {}))
      expect(await done('c')).toBe(true)
      expect((await client(server).query(`select n from ${table}`)).rows).toHaveLength(3)
      await client(server).query(`drop table ${table}`)
    })

    test('ids that differ by their case or by a space at the end are two', async () => {
      await using server = new Server({ port: 0, plugins: { database: options() } })
      await server.ready()
      const done = (id: string) => client(server).transaction(() => once(id, () => {}))
      const ids = ['é', 'e', 'E', 'e ']
      for (const id of ids) expect(await done(id)).toBe(true)
      for (const id of ids) expect(await done(id)).toBe(false)
      // One that is cut would be another one.
      if (name === 'mysql2') await expect(done('e'.repeat(1_001))).rejects.toMatchObject({ code: 'ER_DATA_TOO_LONG' })
    })
  })

test('once needs a transaction, an id and the option', async () => {
  await using server = new Server({ port: 0, plugins: { database: { url: 'sqlite::memory:' } } })
  await server.ready()
  await expect(once('a', () => {})).rejects.toThrow('needs a transaction. Give the route or the subscriber')
  await expect(client(server).transaction(() => once('', () => {}))).rejects.toThrow('needs an id that is not empty')
  await expect(client(server).transaction(() => once('a', () => {}))).rejects.toThrow('needs the option inbox')
})

test('the ids of once count for a route, a queue or a subscription', async () => {
  const queue = memoryQueue<{ n: number }>('inbox-scope')
  const done: unknown[] = []
  await using server = new Server({
    port: 0,
    background: { queues: { run: true } },
    plugins: { database: { url: 'sqlite::memory:', inbox: true } },
  })
  const work = () => void done.push(1)
  server.post('/a', { transaction: true }, async () => ({ done: await once('1', work) }))
  server.post('/b', { transaction: true }, async () => ({ done: await once('1', work) }))
  await queue.subscribe(async () => void done.push(await once('1', work)), { transaction: true })
  await server.listen()
  for (const path of ['/a', '/b']) {
    expect(await (await server.inject.post(path)).body()).toEqual({ done: true })
    expect(await (await server.inject.post(path)).body()).toEqual({ done: false })
  }
  for (const n of [1, 2]) await queue.publish({ n })
  await expect.poll(() => done).toEqual([1, 1, 1, true, false])
})

test('a transaction that only reads has no outbox, and its messages leave after it', async () => {
  const seen: unknown[] = []
  await using server = new Server({ port: 0, plugins: { database: { url: 'sqlite::memory:', outbox: true } } })
  await server.ready()
  await client(server).transaction(
    async () => {
      expect(outboxFor(server)).toBeUndefined()
      await afterCommit(() => void seen.push('sent'))
    },
    { readOnly: true },
  )
  expect(seen).toEqual(['sent'])
})

test('a savepoint that is taken back takes its messages with it', async () => {
  const seen: unknown[] = []
  await using server = new Server({ port: 0, plugins: { database: { url: 'sqlite::memory:', outbox: true } } })
  deliverFromOutbox(server, 'test', async (data) => void seen.push(data))
  await server.ready()
  await client(server).transaction(async () => {
    const inner = async () => {
      await outboxFor(server)!({ sender: 'test', key: 'a', data: { n: 1 } })
      throw new Error('no')
    }
    await client(server)
      .transaction(inner)
      .catch(() => {})
    await outboxFor(server)!({ sender: 'test', key: 'a', data: { n: 2 } })
  })
  await expect.poll(() => seen).toEqual([{ n: 2 }])
})

describe.skipIf(!hasPostgres)('a user who may not create tables', () => {
  test('uses the one of the owner, and without it the boot fails with the statement', async () => {
    await using owner = new Server({ port: 0, plugins: { database: { url: postgres.url } } })
    await owner.ready()
    await client(owner).query('revoke create on schema public from public; create user plain')
    const url = postgres.url.replace('postgres@', 'plain@')
    const outbox = { table: 'outbox_plain' }
    const start = () => new Server({ port: 0, plugins: { database: { url, outbox } } }).ready()
    const error = await start().then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    expect(error?.message).toMatch(/the database "main" needs the table outbox_plain, and this user cannot make it/)
    const statement = /Let its owner run: (.*)$/.exec(error!.message)![1]!
    await client(owner).query(`${statement}; grant all on outbox_plain to plain`)
    await using server = new Server({ port: 0, plugins: { database: { url, outbox } } })
    await server.ready()
    await client(server).transaction(() => outboxFor(server)!({ sender: 'test', key: 'a', data: {} }))
    expect(await waiting(server)).toMatchObject([{ sender: 'test', messages: 1 }])
  })
})
