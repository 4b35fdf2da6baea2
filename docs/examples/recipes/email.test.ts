import { outageOf, testServer } from 'framework/testing'
import { test } from 'vitest'
import { makeServer } from './email.ts'

test('a welcome is sent after the response, and again while the mail server is away', async () => {
  await using server = await testServer(() => makeServer('smtp://127.0.0.1:9'))
  const join = (name: string) => server.inject.post('/accounts', { body: { mail: `${name}@example.org`, name } })
  ;(await join('ada')).assertStatus(201)
  await server.settled()
  server.emails.assertCount(1).assertSome({ to: 'ada@example.org', subject: 'Welcome, ada', html: /Hello ada/ })

  const down = outageOf(server, 'mailer', 'down')
  ;(await join('bob')).assertStatus(201)
  await server.settled()
  server.emails.assertCount(1)
  down.restore()
  await server.clock.advance('5 s')
  server.emails.assertSome({ to: 'bob@example.org' })
})
