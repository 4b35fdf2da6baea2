import { router, Server } from 'framework'
import { expect, test } from 'vitest'

router.get('/greet/:name', (req) => ({ greeting: `hello ${req.params.name}` }))

test('greets', async () => {
  await using server = new Server()
  const res = await server.inject.get('/greet/you')
  res.assertStatus(200).assertBodyDeepEqual({ greeting: 'hello you' })
  expect(res.headers()['content-type']).toBe('application/json; charset=utf-8')
})
