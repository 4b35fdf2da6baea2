import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeServer } from './server.ts'
import { Shelf } from './stock.ts'

let shelf: Shelf
let server: ReturnType<typeof makeServer>
beforeEach(() => {
  shelf = new Shelf(3)
  server = makeServer(shelf)
})
afterEach(() => server.close())

test('five clients at once buy three', async () => {
  const sold = await Promise.all(Array.from({ length: 5 }, () => server.inject.post('/sell')))
  expect(sold.map((one) => one.statusCode()).sort()).toEqual([200, 200, 200, 409, 409])
  expect(shelf.count).toBe(0)
})

test('the shelf refuses one who is too late, whatever that one believes', async () => {
  const locks = server.services.get('locks')
  await server.ready()
  const early = await locks.withLock('shelf', {}, ({ fence }) => fence)
  ;(await server.inject.post('/sell')).assertStatus(200)
  expect(await shelf.set(3, early)).toBe(false)
  ;(await server.inject.get('/left')).assertBodyDeepEqual({ left: 2 })
})

test('what is left is read once, and again after a sale', async () => {
  for (const left of [3, 2]) {
    ;(await server.inject.get('/left')).assertBodyDeepEqual({ left })
    ;(await server.inject.get('/left')).assertBodyDeepEqual({ left })
    await server.inject.post('/sell')
  }
})
