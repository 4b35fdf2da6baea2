import { test } from 'vitest'
import { server } from './server.ts'

test('a film has its id', async () => {
  const res = await server.inject.get('/films/1')
  res.assertStatus(200).assertBodyDeepEqual({ id: '1', title: 'Stalker' })
})

test('a film without a title is refused', async () => {
  const res = await server.inject.post('/films', { body: { year: 1979 } })
  res.assertStatus(422)
})

test('a director who is missing is a 404 with a code', async () => {
  const res = await server.inject.get('/directors/5')
  res.assertStatus(404).assertBodyDeepEqual({ code: 'DirectorNotFoundError', message: 'There is no director 5' })
})

test('the greeting is a variable', async () => {
  const res = await server.inject.get('/greeting')
  res.assertStatus(200).assertBodyDeepEqual({ greeting: 'hello' })
})
