import { QueueService } from 'framework'
import { testDatabase } from 'framework/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { steps } from './migrations.ts'
import { makeServer } from './server.ts'

async function migrate(url: string) {
  await using server = makeServer(url)
  await server.ready()
  await server.services.get('databases').migrate()
}

describe.skipIf(!hasPostgres)('orders', () => {
  const printed: string[] = []
  let postgres: OwnServer
  let server: ReturnType<typeof makeServer>

  beforeAll(async () => {
    postgres = await startPostgres()
    const database = await testDatabase({ url: postgres.url, template: { key: steps, migrate } })
    server = makeServer(database.url, (order) => void printed.push(order))
    await server.ready()
  })
  afterAll(async () => {
    await QueueService.stop()
    await server.close()
    await postgres.stop()
  })
  beforeEach(() => server.services.get('database').query('truncate books, orders'))

  async function addBook(copies: number) {
    const res = await server.inject.post('/books', { body: { title: 'Dune', copies } })
    return res.assertStatus(201).body<{ id: string }>().id
  }
  const count = async (table: 'books' | 'orders') =>
    (await server.services.get('database').query(`select from ${table}`)).count

  test('a book exists once', async () => {
    await addBook(1)
    const again = await server.inject.post('/books', { body: { title: 'Dune', copies: 5 } })
    again.assertStatus(409).assertBodySubset({ code: 'BookExistsError' })
  })

  test('the last copy is sold once, also to two at the same time', async () => {
    const id = await addBook(1)
    const both = await Promise.all([1, 2].map(() => server.inject.post(`/books/${id}/orders`)))
    expect(both.map((res) => res.statusCode()).sort()).toEqual([201, 409])
    expect(await count('orders')).toBe(1)
  })

  test('an order is printed, and one that failed is not', async () => {
    const id = await addBook(1)
    await QueueService.run()
    const sold = await server.inject.post(`/books/${id}/orders`)
    ;(await server.inject.post(`/books/${id}/orders`)).assertStatus(409)
    await expect.poll(() => printed).toContain(sold.assertStatus(201).body<{ order: string }>().order)
  })

  test('an instance is ready while the database answers', async () => {
    ;(await server.inject.get('/health/ready')).assertStatus(200).assertBodySubset({ checks: { database: 'ok' } })
    await postgres.kill()
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    ;(await server.inject.get('/health/live')).assertStatus(200)
    await postgres.restart()
    await expect.poll(async () => (await server.inject.get('/health/ready')).statusCode()).toBe(200)
  })
})
