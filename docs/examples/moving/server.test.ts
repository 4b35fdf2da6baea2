import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './server.ts'

const lines: string[] = []
const server = makeServer({ write: (line) => void lines.push(line) })
beforeAll(() => server.ready())
afterAll(() => server.close())

test('books are listed and found', async () => {
  const emma = { id: '1', title: 'Emma', year: 1815 }
  ;(await server.inject.get('/books')).assertStatus(200).assertBodyDeepEqual([emma])
  ;(await server.inject.get('/books/1')).assertStatus(200).assertBodyDeepEqual(emma)
})

test('a book that does not exist is a 404 with a code', async () => {
  const res = await server.inject.get('/books/9')
  res.assertStatus(404).assertBodyDeepEqual({ code: 'BookNotFoundError', message: 'There is no book 9' })
})

test('a book is validated, added and logged', async () => {
  ;(await server.inject.post('/books', { body: { title: '' } })).assertStatus(422)
  const res = await server.inject.post('/books', { body: { title: 'Persuasion' } })
  res.assertStatus(201).assertBodyDeepEqual({ id: '2', title: 'Persuasion' })
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ msg: 'book added', book: '2' }),
  )
})

test('only readers who are known read /me', async () => {
  ;(await server.inject.get('/me')).assertStatus(401).assertHeader('www-authenticate', 'Bearer')
  const headers = { authorization: 'Bearer ada-token' }
  ;(await server.inject.get('/me', { headers })).assertStatus(200).assertBodyDeepEqual({ name: 'ada' })
})
