import { afterAll, expect, test } from 'vitest'
import { makeServer } from '../../../docs/examples/demo/server.ts'
import { problemsOf } from '../../support/openapi.ts'

const server = makeServer({ log: false })
afterAll(() => server.close())

test('the demo is described, plugins included', async () => {
  await server.ready()
  const document = server.services.get('openapi').document()
  expect(await problemsOf(document)).toEqual([])
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/books', '/books/{id}', '/books/{id}/cover', '/loans/{id}', '/authors', '/health/ready']),
  )
  expect(Object.keys(document.paths)).not.toContain('/')
  expect(document.paths['/books/{id}/cover']?.put?.requestBody?.content).toEqual({
    'multipart/form-data': {
      schema: { type: 'object', properties: { cover: { type: 'string', format: 'binary' } }, required: ['cover'] },
    },
  })
  expect(document.paths['/books']?.post?.security).toEqual([{ credential: ['books.add'] }])
})
