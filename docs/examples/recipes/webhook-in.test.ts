import { createHmac } from 'node:crypto'
import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './webhook-in.ts'

const secret = 'whsec_of_this_test'
const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', data: { object: { id: 'in_1' } } })

test('a signed event is handled once, however often it comes', async () => {
  await using server = await testServer(() => makeServer(secret))
  const send = (signature: string) =>
    server.inject.post('/hooks/stripe', {
      body,
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    })
  const sign = (text: string) => {
    const t = Math.floor(server.clock.now() / 1000)
    return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')}`
  }
  for (let i = 0; i < 2; i++) (await send(sign(body))).assertStatus(204)
  await server.settled()
  expect((await server.services.get('database').query('select invoice from paid')).rows).toEqual([{ invoice: 'in_1' }])
  ;(await send(sign(`${body} `))).assertStatus(401)
})
