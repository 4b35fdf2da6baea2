import { testServer, testTenants } from 'framework/testing'
import { expect, test } from 'vitest'
import { prints, server } from './server.ts'

const ann = { authorization: 'Bearer key-of-ann' }
const bob = { authorization: 'Bearer key-of-bob' }

test('no tenant reaches what belongs to the other', async () => {
  await using tested = await testServer(server)
  for (let i = 0; i < 25; i++) {
    for (const headers of [ann, bob]) {
      await tested.inject.post('/invoices', { headers, body: { total: i } })
      await tested.inject.put(`/files/${i}.json`, { headers, body: { of: headers.authorization } })
    }
  }
  const files = Array.from({ length: 25 }, (_, i) => `${i}.json`)
  const report = await testTenants(
    tested,
    [
      { headers: ann, objects: { '/files/:name': files } },
      { headers: bob, objects: { '/files/:name': files } },
    ],
    { bodies: { 'PUT /invoices/:id': { total: 0 }, 'PUT /files/:name': { of: 'the other' } } },
  )
  expect(report.requests).toBeGreaterThanOrEqual(200)
  expect(report.routes).toHaveLength(5)
  await tested.settled()
  expect(prints).toHaveLength(50)
  expect(prints).toContain('1 of acme')
  expect(prints).toContain('2 of globex')
})
