import { defineQueueConfiguration, QueueService, RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { clientOf, kysely } from './kysely.ts'
import { printing } from './orders.ts'

describe.skipIf(!hasPostgres)('with Kysely', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
    defineQueueConfiguration({ pgboss: { connectionString: postgres.url } })
  })
  afterAll(async () => {
    await QueueService.stop()
    await postgres.stop()
  })

  test('a transaction that fails takes its message back', async () => {
    const plugins = { kysely: kysely({ url: postgres.url }), health: true } as const
    await using server = new Server({ router: new RouteCollection(), plugins })
    await server.ready()
    const database = server.services.kysely
    const run = (fails: boolean) =>
      database.transaction().execute(async (transaction) => {
        await printing.publish({ order: '1' }, { client: clientOf(transaction) })
        if (fails) throw new Error('no')
      })
    await expect(run(true)).rejects.toThrow('no')
    expect(await printing.counts()).toMatchObject({ waiting: 0 })
    await run(false)
    expect(await printing.counts()).toMatchObject({ waiting: 1 })
    ;(await server.inject.get('/health/ready')).assertStatus(200)
  })
})
