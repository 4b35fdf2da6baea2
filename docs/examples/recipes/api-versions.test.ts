import { expect, test } from 'vitest'
import { makeServer } from './api-versions.ts'

test('the old version has its old form, and says when it ends', async () => {
  await using server = makeServer()
  const v1 = await server.inject.get('/v1/books')
  v1.assertBodyDeepEqual([{ id: 1, title: 'Good Omens', author: 'Terry Pratchett and Neil Gaiman' }])
  v1.assertHeader('deprecation', '@1780272000').assertHeader('sunset', 'Tue, 01 Jun 2027 00:00:00 GMT')
  const v2 = await server.inject.get('/v2/books')
  v2.assertBodyDeepEqual([{ id: 1, title: 'Good Omens', authors: ['Terry Pratchett', 'Neil Gaiman'] }])
  v2.assertHeaderNotExists('deprecation')
  const document = (await server.inject.get('/docs/json')).body<{ paths: object }>()
  expect(Object.keys(document.paths)).toEqual(['/v1/books', '/v2/books'])
})
