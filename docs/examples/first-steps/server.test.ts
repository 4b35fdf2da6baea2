import { type TestServer, testServer } from 'framework/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './server.ts'

const ada = { mail: 'ada@example.org', password: 'correct horse battery' }
let server: TestServer<ReturnType<typeof makeServer>>
let cookies: Record<string, string>
beforeAll(async () => {
  server = await testServer(() => makeServer({ secret: 'a secret of thirty-two characters' }))
  cookies = (await server.inject.post('/members', { body: ada })).assertStatus(201).cookies()
})
afterAll(() => server.close())

async function addFilm(title: string, seats: number) {
  const res = await server.inject.post('/films', { body: { title, seats } })
  return res.assertStatus(201).body<{ id: number }>().id
}

test('a film is in the programme once', async () => {
  const id = await addFilm('Stalker', 20)
  ;(await server.inject.get(`/films/${id}`)).assertBodyDeepEqual({ id, title: 'Stalker', seats: 20 })
  const again = await server.inject.post('/films', { body: { title: 'Stalker' } })
  again.assertStatus(409).assertBodySubset({ code: 'FilmExistsError' })
  const nameless = await server.inject.post('/films', { body: { title: '' } })
  nameless.assertStatus(422).assertBodySubset({ errors: [{ part: 'body', path: '/title' }] })
  ;(await server.inject.get('/films/99')).assertStatus(404)
})

test('a booking is confirmed by email', async () => {
  const id = await addFilm('Solaris', 5)
  ;(await server.inject.post(`/films/${id}/bookings`, { cookies })).assertStatus(201)
  await server.settled()
  server.emails.assertSome({ to: ada.mail, subject: 'Your seat for Solaris' })
})

test('the last seat is sold once, also to two at the same time', async () => {
  const id = await addFilm('Mirror', 1)
  const both = await Promise.all([1, 2].map(() => server.inject.post(`/films/${id}/bookings`, { cookies })))
  expect(both.map((res) => res.statusCode()).sort()).toEqual([201, 409])
})

test('strangers book and rate nothing', async () => {
  const id = await addFilm('Nostalghia', 5)
  ;(await server.inject.post(`/films/${id}/bookings`)).assertStatus(401)
  ;(await server.inject.post(`/films/${id}/ratings`, { body: { score: 10 } })).assertStatus(401)
  const rated = await server.inject.post(`/films/${id}/ratings`, { cookies, body: { score: 10 } })
  rated.assertStatus(201).assertBodyDeepEqual({ average: 10 })
})

test('a member logs in and out, and a wrong password says no more than a wrong address', async () => {
  const login = await server.inject.post('/login', { body: { ...ada, mail: 'Ada@Example.org' } })
  const member = { cookies: login.assertStatus(204).cookies() }
  const wrong = await server.inject.post('/login', { body: { ...ada, password: 'a wrong password' } })
  const unknown = await server.inject.post('/login', { body: { ...ada, mail: 'eve@example.org' } })
  wrong.assertStatus(401).assertBodyDeepEqual(unknown.assertStatus(401).body())
  ;(await server.inject.post('/logout', member)).assertStatus(204)
  ;(await server.inject.post('/films/1/bookings', member)).assertStatus(401)
})

test('the job runs every morning', async () => {
  await server.clock.advance('24 h')
  ;(await server.inject.get('/health/ready')).assertStatus(200)
})
