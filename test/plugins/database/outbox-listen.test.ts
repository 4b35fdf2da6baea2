import { createQueue, type DatabaseClient, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliverFromOutbox } from '../../../plugins/shared/work/outbox.ts'
import { outboxFor } from '../../../plugins/shared/work/transactions.ts'
import { writeAndDie } from '../../support/outbox-writer.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// In most of these tests, no process looks for messages of others: what is delivered was announced.
const never = 3_600_000

const client = (server: Server): DatabaseClient => server.services.get('databases').client()

test('the tree says which outbox is in use', () => {
  const url = 'postgres://user:secret@db.internal/shop'
  const named = { cart: { url: 'sqlite::memory:', outbox: { table: 'cart.sent' } }, other: { url } }
  const { plugins } = new Server({ plugins: { database: { url, outbox: true, named } } })
  expect(plugins.children.find(({ name }) => name === 'database')?.notes).toEqual([
    'outbox of main: framework_outbox in postgresql (woken by LISTEN, looks every 1000 ms)',
    'outbox of cart: cart.sent in sqlite (looks every 1000 ms)',
  ])
  const quiet = new Server({ plugins: { database: { url, outbox: { listen: false } } } })
  expect(quiet.printPlugins()).toMatch(
    /database .*outbox of main: framework_outbox in postgresql \(looks every 1000 ms\)/,
  )
  expect(new Server({ plugins: { database: { url } } }).printPlugins()).not.toContain('outbox')
})

test.each(['sqlite::memory:', 'mysql://127.0.0.1/a'])('%s cannot listen', (url) => {
  const start = () => new Server({ plugins: { database: { url, outbox: { listen: true } } } })
  expect(start).toThrow('database.outbox.listen')
  expect(start).toThrow('only Postgres has LISTEN')
})

describe.skipIf(!hasPostgres).each(['pg', 'postgres'] as const)('the outbox of Postgres is notified, %s', (driver) => {
  let postgres: OwnServer
  let owner: Server
  beforeAll(async () => {
    postgres = await startPostgres()
    owner = new Server({ plugins: { database: { url: postgres.url } } })
    await owner.ready()
  })
  afterAll(async () => {
    await owner.close()
    await postgres.stop()
  })

  const run = (text: string) => client(owner).query(text)
  const listening = async () =>
    (await run("select pid from pg_stat_activity where query = 'listen framework_outbox'")).count
  const serve = async (pollInterval: number, more: object = {}) => {
    const database = { url: postgres.url, driver, outbox: { table: 'announced', pollInterval }, ...more }
    const server = new Server({ port: 0, plugins: { database } })
    await server.listen()
    return server
  }
  const write = (server: Server, n: number) =>
    client(server).transaction(() => outboxFor(server)!({ sender: 'test', key: 'a', data: { n } }))

  test('what a process has committed that died at once is delivered by another one at once', async () => {
    const seen: unknown[] = []
    const name = `announced-${driver}`
    const engine = {
      ...{ name: 'test', subscribe: async () => {}, unsubscribe: async () => {} },
      async publish(_: string, payload: unknown) {
        seen.push(payload)
        return { id: '' }
      },
    }
    createQueue(name, engine)
    const outbox = { table: 'announced_processes', pollInterval: never }
    await using server = new Server({
      port: 0,
      background: { queues: { config: {} } },
      plugins: { database: { url: postgres.url, driver, outbox } },
    })
    await server.listen()
    await expect.poll(listening).toBe(1)
    await writeAndDie({ url: postgres.url, outbox, queue: name })
    await expect.poll(() => seen).toEqual([{ n: 1 }])
  })

  test('a connection that is lost comes back, and misses nothing that was committed in between', async () => {
    const seen: number[] = []
    await using writer = await serve(never, { outbox: { table: 'announced', pollInterval: never } })
    await using server = await serve(never)
    deliverFromOutbox(server, 'test', async ({ n }: { n: number }) => void seen.push(n))
    await expect.poll(listening).toBe(2)
    await write(writer, 1)
    await expect.poll(() => seen).toEqual([1])
    await run("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen framework_outbox'")
    await write(writer, 2)
    await expect.poll(() => seen).toEqual([1, 2])
    await expect.poll(listening).toBe(2)
    await write(writer, 3)
    await expect.poll(() => seen).toEqual([1, 2, 3])
  })

  test('while its table is locked, one look waits for it, and takes no other connection', async () => {
    await run('create table if not exists locked (id integer)')
    await run('drop table locked')
    await using server = await serve(10, { outbox: { table: 'locked', pollInterval: 10, listen: false } })
    const looks = "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%distinct sender%'"
    await client(owner).transaction(async () => {
      await run('lock table locked')
      const waiting = async () => (await client(server).query(looks)).count
      await expect.poll(waiting).toBe(1)
      // Each takes the time of five looks.
      for (let i = 0; i < 10; i++) await client(server).query('select pg_sleep(0.05)')
      expect(await waiting()).toBe(1)
    })
  })

  test('looks for messages while it cannot listen, and has no connection left when it is closed', async () => {
    const seen: number[] = []
    await run('drop table if exists announced')
    await run('create user plain; grant create on schema public to plain')
    const url = postgres.url.replace('postgres@', 'plain@')
    await using writer = await serve(never, { url })
    await using server = await serve(50, { url })
    deliverFromOutbox(server, 'test', async ({ n }: { n: number }) => void seen.push(n))
    await expect.poll(listening).toBe(2)
    await run('alter user plain nologin')
    await run("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen framework_outbox'")
    await expect.poll(listening).toBe(0)
    await write(writer, 1)
    await expect.poll(() => seen).toEqual([1])
    expect(await listening()).toBe(0)
    await run('alter user plain login')
    await expect.poll(listening).toBe(2)
    await write(writer, 2)
    await expect.poll(() => seen).toEqual([1, 2])
    await Promise.all([writer.close(), server.close()])
    const left = async () => (await run("select pid from pg_stat_activity where usename = 'plain'")).count
    await expect.poll(left).toBe(0)
    await run('drop owned by plain; drop user plain')
  })

  test('a server that closes while it connects leaves no connection', async () => {
    const before = (await run('select pid from pg_stat_activity')).count
    for (let round = 0; round < 10; round++) await (await serve(never)).close()
    await expect.poll(async () => (await run('select pid from pg_stat_activity')).count).toBe(before)
  })

  if (driver === 'postgres')
    test('keeps its connection, although idle ones of the pool are closed', async () => {
      await using server = await serve(never, { options: { idle_timeout: 0.1 } })
      const pid = "select pid from pg_stat_activity where query = 'listen framework_outbox'"
      const pids = async () => (await run(pid)).rows
      await expect.poll(listening).toBe(1)
      const before = await pids()
      const idle =
        "select pid from pg_stat_activity where query <> 'listen framework_outbox' and pid <> pg_backend_pid()"
      const usual = async () => (await run(`${idle} and application_name = 'postgres.js'`)).count
      await client(server).query('select 1')
      await expect.poll(usual).toBe(0)
      await client(server).query('select 1')
      await expect.poll(usual).toBe(0)
      expect(await pids()).toEqual(before)
    })

  test('with listen: false, it opens no connection and says nothing', async () => {
    await using server = await serve(never, { outbox: { table: 'announced', listen: false } })
    await write(server, 1)
    expect(await listening()).toBe(0)
    await run('truncate announced')
  })
})
