import { RouteCollection, Server } from 'framework'
import { afterAll, expect, test } from 'vitest'
import { HttpRates } from './rates.ts'

// The other side of the wire, as far as this application uses it.
const routes = new RouteCollection()
routes.get('/rates/:currency', (req, res) => {
  if (req.params.currency === 'USD') return { euro: 0.5 }
  return res.serviceUnavailable()
})
const upstream = new Server({ router: routes })
afterAll(() => upstream.close())

const rates = new HttpRates('https://rates.example.com', upstream.fetch)

test('an amount is converted', async () => {
  expect(await rates.toEuro(10, 'USD')).toBe(5)
})

test('a response that is not a rate is an error that clients may see as 502', async () => {
  await expect(rates.toEuro(10, 'EUR')).rejects.toMatchObject({ status: 502, code: 'RatesUnavailableError' })
})
