import { describeServer } from 'framework/plugins/openapi'
import { type TestServer, testServer } from 'framework/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Rates } from './rates.ts'
import { makeServer } from './server.ts'

const lines: string[] = []
const asked: string[] = []
const rates: Rates = {
  async toEuro(amount, currency) {
    asked.push(currency)
    if (currency === 'XXX') throw new Error('the service is down')
    return amount / 2
  },
}

let server: TestServer<ReturnType<typeof makeServer>>
beforeAll(async () => {
  server = await testServer(() => makeServer({ log: { stream: { write: (line) => void lines.push(line) } } }))
  server.replace('rates', rates)
})
afterAll(() => server.close())
beforeEach(() => {
  server.emails.clear()
  lines.length = 0
  asked.length = 0
})

/** Signs a client in, and returns what its requests need. */
async function signedIn() {
  const res = await server.inject.post('/login')
  return { cookies: res.assertStatus(204).cookies() }
}

describe('orders', () => {
  test('are for those who have signed in', async () => {
    const res = await server.inject.post('/orders', { body: { amount: 10, currency: 'USD' } })
    res.assertStatus(401)
    expect(asked).toEqual([])
  })

  test('are converted', async () => {
    const client = await signedIn()
    const res = await server.inject.post('/orders', { ...client, body: { amount: 10, currency: 'USD' } })
    res.assertStatus(201).assertBodyDeepEqual({ euro: 5 })
    expect(asked).toEqual(['USD'])
  })

  test('of nothing are refused, with the member and the rule', async () => {
    const client = await signedIn()
    const res = await server.inject.post('/orders', { ...client, body: { amount: 0, currency: 'USD' } })
    res.assertStatus(422).assertBodySubset({ errors: [{ part: 'body', path: '/amount', keyword: 'exclusiveMinimum' }] })
  })

  test('fail without a word to the client when there are no rates, and the log has the reason', async () => {
    const client = await signedIn()
    const res = await server.inject.post('/orders', { ...client, body: { amount: 10, currency: 'XXX' } })
    res.assertStatus(500)
    expect(res.text()).toBe('')
    expect(lines.join('')).toContain('the service is down')
  })
})

test('receipts are emailed', async () => {
  const client = await signedIn()
  const res = await server.inject.post('/orders', { ...client, body: { amount: 10, currency: 'USD' } })
  res.assertStatus(201)
  await server.settled()
  server.jobs.assertSome({ queue: 'receipts' })
  server.emails.assertCount(1).assertSome({ to: 'ada@example.org', text: '5 EUR' })
})

describe('over a socket', () => {
  test('the application listens, and closes', async () => {
    await using other = makeServer({ log: false })
    await other.listen()
    const res = await fetch(`${other.url}/orders`, { method: 'POST', signal: AbortSignal.timeout(5000) })
    expect(res.status).toBe(401)
  })
})

test('the API is the one that clients know', () => {
  const { paths } = describeServer(server, { info: { title: 'Shop', version: '1.0.0' } })
  expect(Object.keys(paths ?? {})).toEqual(['/login', '/orders'])
  expect(Object.keys(paths?.['/orders']?.post?.responses ?? {})).toMatchInlineSnapshot(`
    [
      "200",
      "400",
      "401",
      "413",
      "415",
      "422",
    ]
  `)
})
