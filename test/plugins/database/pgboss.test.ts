import { type DatabaseClient, pgbossQueue, queue, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeAndDie } from '../../support/outbox-writer.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const client = (server: Server): DatabaseClient => server.services.get('databases').client()

describe.skipIf(!hasPostgres)('a message of pg-boss in a transaction of the same database', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  async function serve(database: object, pgboss: object = {}) {
    const server: Server = new Server({
      port: 0,
      plugins: {
        database: { url: postgres.url, outbox: { pollInterval: 60_000 }, ...database },
        // A subscriber that is not woken waits for a minute.
        queues: { config: { pgboss: { connectionString: postgres.url, pollInterval: 60_000, ...pgboss } }, run: true },
      },
    })
    await server.listen()
    return server
  }
  const jobs = async (server: Server, name: string) =>
    (await client(server).query<{ id: string }>('select id from pgboss.job where name = $1', [name])).rows
  const outboxes = (server: Server) => server.services.get('databases').outboxes()

  for (const driver of ['pg', 'postgres'] as const)
    test(`${driver}: is a row of it, which a subscriber takes after the commit, and does not exist after a rollback`, async () => {
      const name = `inside-${driver}`
      const printing = pgbossQueue<{ n: number }>(name)
      const seen: unknown[] = []
      await using other = await serve({})
      await using server = await serve({ driver })
      await printing.for(server).subscribe(({ n }, { id }) => void seen.push([n, id]))
      await printing.for(server).publish({ n: 0 })
      await expect.poll(() => seen.length).toBe(1)
      const { id } = await client(server).transaction(async () => {
        const made = await printing.for(server).publish({ n: 1 })
        expect(await jobs(server, name)).toContainEqual({ id: made.id })
        // No other connection sees it yet.
        expect(await jobs(other, name)).not.toContainEqual({ id: made.id })
        expect(await outboxes(server)).toEqual([])
        return made
      })
      await expect.poll(() => seen[1]).toEqual([1, id])
      const before = await jobs(server, name)
      const fails = client(server).transaction(async () => {
        await printing.for(server).publishMany([{ n: 2 }, { n: 3 }])
        throw new Error('no')
      })
      await expect(fails).rejects.toThrow('no')
      const inner = () =>
        client(server).transaction(async () => {
          await printing.for(server).publish({ n: 4 })
          throw new Error('no')
        })
      await client(server).transaction(() => inner().catch(() => {}))
      expect(await jobs(server, name)).toEqual(before)
    })

  test('comes in the order of the transaction', async () => {
    const ordered = pgbossQueue<number>('ordered')
    await using server = await serve({}, {})
    await client(server).transaction(async () => {
      for (let n = 0; n < 3; n++) await ordered.for(server).publish(n)
      await ordered.for(server).publishMany([3, 4])
    })
    const text = `select data->'$payload' as n from pgboss.job where name = 'ordered' order by created_on`
    const { rows } = await client(server).query<{ n: number }>(text)
    expect(rows.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4])
    const times = await client(server).query(`select distinct created_on from pgboss.job where name = 'ordered'`)
    expect(times.rows).toHaveLength(5)
  })

  test('is there although its process dies right after the commit', async () => {
    const dying = pgbossQueue<{ n: number }>('dying')
    const seen: number[] = []
    await using server = await serve({}, { pollInterval: 100 })
    await dying.for(server).subscribe(({ n }) => void seen.push(n))
    await writeAndDie({ url: postgres.url, queue: 'dying', isPgboss: true })
    await expect.poll(() => seen).toEqual([1])
  })

  test('so is one of a queue that only the configuration puts there', async () => {
    const later = queue<{ n: number }>('configured')
    await using server = await serve({}, {})
    await using own = new Server({
      port: 0,
      plugins: {
        database: { url: postgres.url },
        queues: { config: { queues: { default: 'pgboss' }, pgboss: { connectionString: postgres.url } } },
      },
    })
    await own.ready()
    await client(own).transaction(async () => {
      const { id } = await later.for(own).publish({ n: 1 }, { attempts: 3 })
      expect(await jobs(own, 'configured')).toContainEqual({ id })
      expect(await jobs(server, 'configured')).toEqual([])
    })
  })

  test.each([
    ['another user', { connectionString: (url: string) => url.replace('postgres@', 'boss@') }],
    ['options that may name another database', { options: { database: 'postgres' } }],
  ])('with %s, it is a row of the outbox', async (_, {
    connectionString,
    options,
  }: { connectionString?: (url: string) => string; options?: object }) => {
    const elsewhere = pgbossQueue<{ n: number }>('elsewhere')
    await using owner = await serve({ outbox: false })
    await client(owner).query(`do $$ begin create user boss superuser; exception when others then null; end $$`)
    await using server = await serve(
      { outbox: { table: 'outbox_elsewhere', pollInterval: 60_000 } },
      { ...(connectionString && { connectionString: connectionString(postgres.url) }), ...(options && { options }) },
    )
    await elsewhere.for(server).publish({ n: 0 })
    await client(server).transaction(async () => {
      const before = (await jobs(server, 'elsewhere')).length
      await elsewhere.for(server).publish({ n: 1 })
      expect(await jobs(server, 'elsewhere')).toHaveLength(before)
      expect((await client(server).query('select key from outbox_elsewhere')).rows).toEqual([{ key: 'elsewhere' }])
    })
    await expect.poll(() => outboxes(server)).toEqual([])
  })

  test('a transaction that only reads sends it after the commit', async () => {
    const reading = pgbossQueue<{ n: number }>('reading')
    await using server = await serve({ outbox: false })
    const { id } = await client(server).transaction(
      async () => {
        await client(server).query('select 1')
        return reading.for(server).publish({ n: 1 })
      },
      { readOnly: true },
    )
    expect(id).toBe('')
    expect(await jobs(server, 'reading')).toHaveLength(1)
  })
})
