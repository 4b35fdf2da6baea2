import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Reporter } from './report.ts'
import { makeServer } from './server.ts'

const reports: unknown[] = []
const reporter: Reporter = {
  capture: (error, { route, status }) => void reports.push([(error as Error).message, route, status]),
}

let server: ReturnType<typeof makeServer>
beforeEach(() => {
  reports.length = 0
  server = makeServer(reporter, false)
})
afterEach(() => server.close())

test('a refusal is a problem with a code and details, and is not reported', async () => {
  const res = await server.inject.post('/shows/tosca/sales', { body: { seats: 1 } })
  res.assertStatus(409).assertHeader('content-type', 'application/problem+json').assertBodySubset({
    type: 'https://tickets.example.com/problems/SoldOutError',
    title: 'Conflict',
    status: 409,
    detail: 'tosca has 0 seats left',
    code: 'SoldOutError',
    left: 0,
  })
  expect(reports).toEqual([])
})

test('a show that does not exist is a 404 of the application', async () => {
  const res = await server.inject.post('/shows/cats/sales', { body: { seats: 1 } })
  res.assertStatus(404).assertBodySubset({ code: 'ShowNotFoundError', detail: 'There is no show cats' })
})

test('input that the schema refuses is a problem that names member and rule', async () => {
  const res = await server.inject.post('/shows/hamlet/sales', { body: { seats: 0 } })
  res.assertStatus(422).assertBodySubset({ code: 'ValidationError', errors: [{ part: 'body', path: '/seats' }] })
})

test('a mistake of the application is a 500 that says nothing, and is reported', async () => {
  const res = await server.inject.get('/broken')
  res.assertStatus(500).assertBodySubset({ title: 'Internal Server Error', code: 'INTERNAL_ERROR' })
  expect(res.text()).not.toContain('printer')
  expect(reports).toEqual([['the printer is on fire', 'GET /broken', 500]])
})

test('a response that breaks off is not taken for a whole one', async () => {
  await server.listen()
  const res = await fetch(`${server.url}/sales.csv`)
  expect(res.status).toBe(200)
  await expect(res.text()).rejects.toThrow()
  expect(reports).toEqual([])
})
