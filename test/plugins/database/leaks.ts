import { Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

/** Declares the tests with a number of requests, for both packages. */
export function leakNothing(total: number): void {
  describe.skipIf(!hasPostgres)('requests of which a third are aborted and a third fail', () => {
    let postgres: OwnServer
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres.stop())

    for (const driver of ['pg', 'postgres'] as const)
      test(`${driver}: ${total} of them leave no connection taken`, () => send(postgres.url, driver, total), 240_000)
  })
}

/** Sends the requests to a server that listens, and counts the connections afterwards. */
async function send(url: string, driver: 'pg' | 'postgres', total: number): Promise<void> {
  const database = { url, driver, pool: { max: 4, acquireTimeout: 60_000 } }
  await using server = new Server({ port: 0, plugins: { database } })
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
  const { rows } = await client.query('select count(*)::int as n from leaks where id % 3 = 2')
  expect(rows).toEqual([{ n: Math.floor(total / 3) }])
  const left = await client.query("select pid from pg_stat_activity where state like 'idle in transaction%'")
  expect(left.rows).toEqual([])
}
