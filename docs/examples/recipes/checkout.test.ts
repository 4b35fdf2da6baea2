import { HttpError } from 'framework'
import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './checkout.ts'

test('an order is placed and paid once, however often the client asks', async () => {
  const paid: string[] = []
  let isAway = true
  await using server = await testServer(() =>
    makeServer(async ({ key }) => {
      if (isAway) throw new HttpError(503, { code: 'PaymentUnavailableError' })
      paid.push(key)
      return { id: `payment-${paid.length}` }
    }),
  )
  const order = (key?: string) =>
    server.inject.post('/orders', {
      body: { book: 'Kindred' },
      headers: { authorization: 'Bearer token-of-ada', ...(key && { 'idempotency-key': key }) },
    })
  const copies = async () =>
    (await server.services.get('database').query<{ copies: number }>('select copies from stock')).rows[0]!.copies

  ;(await order()).assertStatus(400)
  // A 503 is not kept: the client may try again with the same key, and the stock is as before.
  ;(await order('a')).assertStatus(503)
  expect(await copies()).toBe(2)
  isAway = false
  ;(await order('a')).assertStatus(201).assertBodyDeepEqual({ order: 1 })
  ;(await order('a')).assertStatus(201).assertHeader('idempotent-replayed', 'true')
  expect([paid, await copies()]).toEqual([['ada a'], 1])
})
