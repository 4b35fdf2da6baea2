import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeServer } from './server.ts'

let server: ReturnType<typeof makeServer>
beforeEach(() => {
  server = makeServer()
})
afterEach(() => server.close())

async function messagesOf(body: object, language: string) {
  const res = await server.inject.post('/bookings', { body, headers: { 'accept-language': language } })
  const { errors } = res.assertStatus(422).body<{ errors: { path: string; message: string }[] }>()
  return errors.map(({ path, message }) => [path, message])
}

test('each message belongs to a field, in the language of the client', async () => {
  expect(await messagesOf({ email: 'ada', seats: 0 }, 'de-AT,de;q=0.9')).toEqual([
    ['/name', 'Bitte ausfüllen.'],
    ['/email', 'Das ist keine Adresse.'],
    ['/seats', 'Buchen Sie mindestens einen Platz.'],
  ])
})

test('a rule without a message of its own has that of the validator', async () => {
  expect(await messagesOf({ name: 'Ada', email: 'ada', seats: 0 }, 'en')).toEqual([
    ['/email', 'must match format "email"'],
    ['/seats', 'Book at least one seat.'],
  ])
})

test('a member of each item of a list has its own message', async () => {
  const guests = [{ name: 'Grace' }, {}]
  expect(await messagesOf({ name: 'Ada', email: 'ada@example.org', seats: 2, guests }, 'en')).toEqual([
    ['/guests/1/name', 'Name each guest.'],
  ])
})

test('the page has a place for each message', async () => {
  const page = (await server.inject.get('/')).text()
  for (const name of ['name', 'email', 'seats']) expect(page).toContain(`id="${name}-message"`)
})
