import { RouteCollection, Server } from 'framework'
import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { Flags, flags, makeServer } from './feature-flag.ts'

test('a share of the callers has the feature, the same ones each time', async () => {
  const half = new Flags({ a: 50 })
  const callers = Array.from({ length: 1000 }, (_, i) => `caller ${i}`)
  const on = callers.filter((caller) => half.isOn('a', caller))
  expect(on.length).toBeGreaterThan(430)
  expect(on.length).toBeLessThan(570)
  const more = new Flags({ a: 60 })
  expect(on.filter((caller) => !more.isOn('a', caller))).toEqual([])
})

test('a route with a flag is a 404 for the others, and a test chooses', async () => {
  await using off = makeServer({ 'new-checkout': 0 })
  ;(await off.inject.get('/checkout')).assertStatus(404)
  await using server = await testServer(() => makeServer({ 'new-checkout': 0 }))
  server.replace('flags', { isOn: () => true })
  ;(await server.inject.get('/checkout')).assertStatus(200)
})

test('a misspelt flag fails the boot', async () => {
  const routes = new RouteCollection()
  routes.get('/x', { flag: 'nwe' }, () => 1)
  const server = new Server({ router: routes, plugins: { flags: flags({ shares: { new: 1 } }) } })
  await expect(server.ready()).rejects.toThrow('unknown flag "nwe"')
})
