import { testDatabase } from 'framework/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariadb, startMariadb } from '../../../test/support/mariadb.ts'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { makeServer } from './mysql.ts'

test('a database that is away fails the boot', async () => {
  await expect(makeServer('mysql://root@127.0.0.1:9/shop').ready()).rejects.toThrow(/nothing listens there/)
})

describe.skipIf(!hasMariadb)('with a real server', () => {
  let mariadb: OwnServer
  let server: ReturnType<typeof makeServer>
  const database = () => server.services.get('database')
  beforeAll(async () => {
    mariadb = await startMariadb()
    server = makeServer((await testDatabase({ url: mariadb.url })).url)
    await server.ready()
    await server.services.get('databases').migrate()
  }, 60_000)
  afterAll(async () => {
    await server?.close()
    await mariadb?.stop()
  })
  beforeEach(async () => {
    await database().query('delete from orders')
    await database().query("replace into books values (1, 'Kindred', 1), (2, 'Emma', 1)")
  })

  test('a handler queries the database, and an order is one transaction', async () => {
    ;(await server.inject.get('/books/1')).assertBodyDeepEqual({ id: 1, title: 'Kindred' })
    ;(await server.inject.get('/books/3')).assertStatus(404)
    const both = await Promise.all([1, 2].map(() => server.inject.post('/books/1/orders')))
    expect(both.map((res) => res.statusCode()).sort()).toEqual([201, 409])
    expect((await database().query('select copies from books order by id')).rows).toEqual([
      { copies: 0 },
      { copies: 1 },
    ])
    expect((await database().query('select * from orders')).count).toBe(1)
  })

  test('the death of the server fails requests, and the pool connects again', async () => {
    await mariadb.kill()
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    await mariadb.restart()
    ;(await server.inject.get('/health/ready')).assertBodySubset({ checks: { database: 'ok' } })
    ;(await server.inject.get('/books/1')).assertStatus(200)
  })
})
