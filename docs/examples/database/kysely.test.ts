import { RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { shop } from './kysely.ts'

describe.skipIf(!hasPostgres)('with Kysely', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test('its queries belong to the transaction', async () => {
    const plugins = { database: { url: postgres.url, named: { shop: shop(postgres.url) } }, health: true } as const
    await using server = new Server({ router: new RouteCollection(), plugins })
    await server.ready()
    const databases = server.services.get('databases')
    await databases.migrate('shop')
    const kysely = databases.get('shop')
    const insert = (fails: boolean) =>
      databases.client('shop').transaction(async () => {
        await kysely.insertInto('books').values({ title: 'Dune', copies: 1 }).execute()
        if (fails) throw new Error('no')
      })
    await expect(insert(true)).rejects.toThrow('no')
    expect(await kysely.selectFrom('books').selectAll().execute()).toEqual([])
    await insert(false)
    expect(await kysely.selectFrom('books').select('title').execute()).toEqual([{ title: 'Dune' }])
    ;(await server.inject.get('/health/ready')).assertStatus(200)
  })
})
