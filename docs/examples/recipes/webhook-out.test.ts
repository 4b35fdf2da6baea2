import { RouteCollection, Server } from 'framework'
import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { freePort } from '../../../test/support/own-server.ts'
import { makeServer } from './webhook-out.ts'

test('a paid order reaches the endpoint of a customer once, with a signature that the secret verifies', async () => {
  const port = await freePort()
  await using sender = await testServer(() => makeServer('sqlite::memory:', ['127.0.0.1']), { services: 'real' })
  const given = { name: 'acme', url: `http://127.0.0.1:${port}/hook` }
  ;(await sender.inject.post('/endpoints', { body: { ...given, url: 'acme' } })).assertStatus(422)
  const { secret } = (await sender.inject.post('/endpoints', { body: given })).assertStatus(201).body() as {
    secret: string
  }

  const received: unknown[] = []
  await using customer = new Server({
    router: new RouteCollection(),
    port,
    host: '127.0.0.1',
    plugins: { webhooks: true },
  })
  customer.post('/hook', { webhook: { scheme: 'standard', secret } }, (req, res) => {
    received.push((req as { body?: unknown }).body)
    res.noContent()
  })
  await customer.listen()

  ;(await sender.inject.post('/orders/7/pay')).assertStatus(204)
  await sender.settled()
  expect(received).toEqual([{ type: 'order.paid', timestamp: expect.any(String), data: { order: '7' } }])
  const { rows } = await sender.services.get('database').query('select disabled, failing_since from endpoints')
  expect(rows).toEqual([{ disabled: 0, failing_since: null }])
})
