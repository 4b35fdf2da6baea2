import { type DatabaseDriver, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const kinds = [
  {
    ...{ has: hasPostgres, start: startPostgres, drivers: ['pg', 'postgres'] as const },
    open: "select pid from pg_stat_activity where state like 'idle in transaction%'",
  },
  {
    ...{ has: hasMariadb, start: startMariadb, drivers: ['mysql2'] as const },
    open: 'select trx_id from information_schema.innodb_trx',
  },
] as const

/** Declares the tests with a number of requests, for all packages. */
export function leakNothing(total: number): void {
  describe.each(kinds.filter(({ has }) => has))('requests of which a third are aborted and a third fail', (kind) => {
    let started: OwnServer
    beforeAll(async () => {
      started = await kind.start()
    })
    afterAll(() => started.stop())

    for (const driver of kind.drivers)
      test(
        `${driver}: ${total} of them leave no connection taken`,
        () => send(started.url, driver, total, kind.open),
        240_000,
      )
  })
}

/** Sends the requests to a server that listens, and counts the connections afterwards. */
async function send(url: string, driver: DatabaseDriver, total: number, open: string): Promise<void> {
  const database = { url, driver, pool: { max: 4, acquireTimeout: 60_000 } }
  await using server = new Server({ port: 0, plugins: { database }, logger: memoryLogger() })
  server.post('/books/:n', { transaction: true }, async (req, res) => {
    const n = Number(req.params.n)
    await req.database.query('insert into leaks values ($1)', [n])
    if (n % 3 === 1) throw new Error('no')
    return res.created()
  })
  const { port } = await server.listen()
  const client = server.services.get('databases').client()
  await client.query('drop table if exists leaks')
  await client.query('create table leaks (id int primary key)')
  const one = async (n: number) => {
    const controller = new AbortController()
    const sent = fetch(`http://127.0.0.1:${port}/books/${n}`, { method: 'POST', signal: controller.signal })
    if (n % 3 === 0) setTimeout(() => controller.abort(), n % 7)
    await sent.then((res) => res.arrayBuffer()).catch(() => {})
  }
  let next = 0
  const lane = async () => {
    while (next < total) await one(next++)
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  await expect.poll(() => client.counts.size - client.counts.idle).toBe(0)
  expect(client.counts.waiting).toBe(0)
  const { count } = await client.query('select id from leaks where id % 3 = 2')
  expect(count).toBe(Math.floor(total / 3))
  await expect.poll(async () => (await client.query(open)).rows).toEqual([])
}
