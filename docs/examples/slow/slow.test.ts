import { setTimeout as pause } from 'node:timers/promises'
import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { slow } from './4-route-option.ts'

test('slow routes are remembered, each by its own measure', async () => {
  const routes = new RouteCollection()
  const sleep = () => pause(30)
  routes.get('/patient', { slowAfter: 1_000 }, sleep)
  routes.get('/impatient/:id', { slowAfter: 10 }, sleep)
  routes.get('/indifferent', { slowAfter: false }, sleep)
  await using server = new Server({ router: routes, plugins: [slow({ keep: 5 })] })

  for (const path of ['/patient', '/impatient/1', '/indifferent']) {
    const res = await server.inject.get(path)
    res.assertStatus(200)
  }

  expect(server.services.slow.entries).toEqual([{ route: 'GET /impatient/:id', ms: expect.any(Number) }])
  expect(server.explain('GET', '/indifferent').steps.map((step) => step.plugin)).not.toContain('slow')
})
