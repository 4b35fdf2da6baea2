import { pgbossQueue, RouteCollection, Server } from 'framework'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const queue = pgbossQueue<number>('orders')

describe.skipIf(!hasPostgres)('a queue of pg-boss', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  const schemas = async () => {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    try {
      const { rows } = await client.query("select 1 from pg_namespace where nspname = 'pgboss'")
      const open = await client.query("select 1 from pg_stat_activity where application_name = 'pgboss'")
      return { schemas: rows.length, connections: open.rowCount }
    } finally {
      await client.end()
    }
  }

  test('is checked without creating tables, and before its first message as well as after it', async () => {
    const config = { pgboss: { connectionString: postgres.url, publishTimeout: 5_000 } }
    await using server = new Server({
      plugins: { health: true, queues: { config } },
      router: new RouteCollection(),
      logger: memoryLogger(),
    })
    const probe = async () => {
      const res = await server.inject.get('/health/ready')
      return (res.body() as { checks: object }).checks
    }
    for (let i = 0; i < 3; i++) expect(await probe()).toEqual({ queues: 'ok' })
    // Postgres may still be closing that of the last probe.
    await expect.poll(schemas).toEqual({ schemas: 0, connections: 0 })
    await postgres.kill()
    for (let i = 0; i < 20; i++) expect(await probe()).toEqual({ queues: 'error' })
    await postgres.restart()
    await expect.poll(probe).toEqual({ queues: 'ok' })

    await queue.publish(1)
    expect((await schemas()).schemas).toBe(1)
    postgres.freeze()
    for (let i = 0; i < 3; i++) expect(await probe()).toEqual({ queues: 'error' })
    postgres.thaw()
    await expect.poll(probe).toEqual({ queues: 'ok' })
    await postgres.kill()
    expect(await probe()).toEqual({ queues: 'error' })
    await postgres.restart()
    await expect.poll(probe).toEqual({ queues: 'ok' })
  })
})
