import { expect, test } from 'vitest'
import { addBook, loadTitles } from './page.ts'
import { makeServer } from './server.ts'

test('a page reads and adds books through the contract', async () => {
  await using server = makeServer({ port: 0, host: '127.0.0.1' })
  await server.listen()
  const form = new FormData()
  form.set('title', 'Dawn')
  expect(await addBook(server.url, form)).toBeUndefined()
  expect(await loadTitles(server.url)).toEqual(['Kindred', 'Dawn'])
  expect(await addBook(server.url, new FormData())).toBe('A book needs a title')
})
