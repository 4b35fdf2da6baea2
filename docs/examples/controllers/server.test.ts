import { afterEach, beforeEach, test } from 'vitest'
import { makeServer } from './server.ts'

let server: ReturnType<typeof makeServer>
beforeEach(() => {
  server = makeServer()
})
afterEach(() => server.close())

test('the authors are listed without what the schema leaves out, from the cache the second time', async () => {
  for (const how of ['MISS', 'HIT']) {
    const authors = await server.inject.get('/authors')
    authors
      .assertStatus(200)
      .assertHeader('x-cache', how)
      .assertBodyDeepEqual([
        { name: 'Ursula K. Le Guin', books: 2 },
        { name: 'Italo Calvino', books: 1 },
      ])
  }
})

test('the policy comes before the check of the query', async () => {
  const headers = { authorization: 'Bearer ada' }
  ;(await server.inject.get('/authors/search?q=l')).assertStatus(401)
  ;(await server.inject.get('/authors/search?q=l', { headers: { authorization: 'Bearer eve' } })).assertStatus(401)
  ;(await server.inject.get('/authors/search?q=l', { headers })).assertStatus(422)
  const found = await server.inject.get('/authors/search?q=le+guin', { headers })
  found.assertStatus(200).assertBodyDeepEqual([{ name: 'Ursula K. Le Guin', books: 2 }])
})
