import { describeServer } from 'framework/plugins/openapi'
import { expect, test } from 'vitest'
import { api, makeServer } from './openapi-first.ts'

/** `POST /orders 201`, for each response of each operation that a document promises. */
const promises = (paths: object) =>
  Object.entries(paths).flatMap(([path, operations]: [string, Record<string, { responses: object }>]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  )

test('the server has each operation of the document, and no other', async () => {
  await using server = makeServer()
  const described = describeServer(server, { info: api.info, failures: false })
  expect(promises(described.paths ?? {}).sort()).toEqual(promises(api.paths).sort())
  const served = await server.inject.get('/openapi.json')
  served.assertBodyDeepEqual(JSON.parse(JSON.stringify(api)))
})

test('input that the document does not allow is refused', async () => {
  await using server = makeServer()
  const order = await server.inject.post('/orders', { body: { book: 'Kindred', copies: 2 } })
  order.assertStatus(201)
  ;(await server.inject.get('/orders/1')).assertBodyDeepEqual({ id: '1', book: 'Kindred', copies: 2 })
  ;(await server.inject.post('/orders', { body: { book: 'Kindred', copies: 0 } })).assertStatus(422)
})
