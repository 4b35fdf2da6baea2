import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer, type Shop } from './cache.ts'

test('a response is computed once until it changes, and old data outlives its source', async () => {
  let title = 'Kindred'
  let asked = 0
  let isAway = false
  const shop: Shop = {
    book: async (id) => ({ id, title, asked: ++asked }),
    async rename(_id, next) {
      title = next
    },
    async rates() {
      if (isAway) throw new Error('away')
      return { CHF: 0.94 }
    },
  }
  await using server = await testServer(() => makeServer(shop))
  const book = () => server.inject.get('/books/1')
  const both = await Promise.all([book(), book()])
  expect([asked, both.map((res) => res.headers()['x-cache']).sort()]).toEqual([1, ['MISS', 'WAIT']])
  ;(await server.inject.put('/books/1', { body: { title: 'Parable' } })).assertStatus(204)
  ;(await book()).assertHeader('x-cache', 'MISS').assertBodySubset({ title: 'Parable' })

  ;(await server.inject.get('/rates')).assertStatus(200)
  isAway = true
  await server.clock.advance('2 min')
  ;(await server.inject.get('/rates')).assertBodyDeepEqual({ CHF: 0.94 })
})
