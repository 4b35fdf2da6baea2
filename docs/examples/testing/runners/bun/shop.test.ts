import { test } from 'bun:test'
import { testClock } from 'framework/testing'
import { makeShop } from '../orders.ts'

test('takes orders until there are enough', async () => {
  const shop = makeShop()
  for (const status of [201, 201, 409]) (await shop.inject.post('/orders')).assertStatus(status)
  await shop.close()
})

test('takes the next requests of a client after a minute', async () => {
  const clock = testClock()
  const shop = makeShop()
  for (const status of [201, 201, 409, 429]) (await shop.inject.post('/orders')).assertStatus(status)
  await clock.advance('1 minute')
  ;(await shop.inject.post('/orders')).assertStatus(409)
  await shop.close()
  clock.restore()
})
