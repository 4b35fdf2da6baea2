import { setTimeout as pause } from 'node:timers/promises'
import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { slow } from './9-panel.ts'

test('the panel has the slow requests, and forgets one', async () => {
  await using server = new Server({ router: new RouteCollection(), plugins: [slow({ after: 5 })] })
  server.get('/report', () => pause(20))
  await server.inject.get('/report')

  const [panel] = await slow.plugin.inspector!()
  const rows = () => panel!.rows(server.services, 10)
  expect(rows()).toEqual([['GET /report', expect.any(Number)]])
  expect(panel!.actions![0]!.run(server.services, 'GET /report')).toBe('GET /report is forgotten.')
  expect(rows()).toEqual([])
})
