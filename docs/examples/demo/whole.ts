import assert from 'node:assert/strict'
import { testServer } from 'framework/testing'
import { makeServer } from './server.ts'

const ada = { authorization: 'Bearer ada' }
const grace = { authorization: 'Bearer grace' }
const kindred = { title: 'Kindred', author: 'Octavia E. Butler' }

/**
 * The whole library, on any runtime and without a test runner: HTTP, cache, job, email, message, session, storage, socket and schedule. With
 * real services, what the environment names is used; nothing else differs.
 */
export async function testLibrary(services: 'memory' | 'real'): Promise<void> {
  await using server = await testServer(() => makeServer({ log: false }), { services })

  // HTTP: who may do what, and what is refused.
  ;(await server.inject.post('/books', { body: kindred })).assertStatus(401)
  ;(await server.inject.post('/books', { body: { title: ' ' }, headers: ada })).assertStatus(422)
  const added = await server.inject.post('/books', { body: kindred, headers: ada })
  const { id: book } = added.assertStatus(201).body<{ id: string }>()
  const query = 'query ($book: ID!) { book(id: $book) { title available } }'
  const graph = await server.inject.post('/graphql', { body: { query, variables: { book } } })
  graph.assertBodyDeepEqual({ data: { book: { title: 'Kindred', available: true } } })
  ;(await server.inject.get('/app/')).assertStatus(200).assertHeaderExists('content-security-policy')
  ;(await server.inject.get('/health/ready')).assertStatus(200)

  // A loan: the cached page is dropped, a page that watches shows it, and a job emails a receipt.
  for (const how of ['MISS', 'HIT']) (await server.inject.get(`/books/${book}`)).assertHeader('x-cache', how)
  const socket = await server.inject.ws('/live')
  server.sockets.assertCount(1).assertSome({ route: '/live' })
  const email = 'grace@example.org'
  const lent = await server.inject.post('/loans', { body: { book, email }, headers: grace })
  const { id: loan } = lent.assertStatus(201).body<{ id: string }>()
  await server.settled()
  ;(await server.inject.get(`/books/${book}`)).assertHeader('x-cache', 'MISS').assertBodySubset({ available: false })
  server.jobs.assertCount(1).assertSome({ queue: 'receipts', payload: { title: 'Kindred' } })
  server.emails.assertCount(1).assertSome({ to: email, subject: 'Lent: Kindred', html: /^<p>Kindred,/ })
  server.messages.assertSome({ via: 'mqtt', topic: 'library/news', payload: { kind: 'lent', title: 'Kindred' } })
  await socket.assertNext({ type: 'readers', data: 1 })
  await socket.assertNext({ type: 'loan', data: { book, isLent: true } })
  // An open one is pinged, every second of the month below.
  await socket.close()

  // The schedule: a month later, the desk is reminded. The time of real services cannot be moved.
  if (services === 'memory') {
    await server.clock.advance('31 days')
    server.emails.assertSome({ subject: 'Overdue: Kindred', text: /^Member / })
  } else assert.equal(await server.services.cron.trigger('reminders'), true)

  // A message of the returns box ends the loan.
  await server.services.mqtt.publish('library/returns-box', { loan, member: 'm2' }, { qos: 1 })
  await server.settled()
  ;(await server.inject.get('/loans', { headers: grace })).assertBodyDeepEqual([])
  server.messages.assertSome({ topic: 'library/news', payload: { kind: 'returned' } })

  // The session, and the storage.
  const listed = await server.inject.put(`/list/${book}`)
  ;(await server.inject.get('/list', { cookies: listed.cookies() })).assertBodySubset([{ id: book }])
  const cover = new File([new Uint8Array([137, 80, 78, 71])], 'cover.png', { type: 'image/png' })
  ;(await server.inject.put(`/books/${book}/cover`, { formData: { cover }, headers: ada })).assertStatus(204)
  server.objects.assertCount(1).assertSome({ disk: 'covers', key: `covers/${book}` })
  ;(await server.inject.get(`/books/${book}/cover`)).assertStatus(200).assertHeader('content-type', 'image/png')
  ;(await server.inject.delete(`/books/${book}`, { headers: ada })).assertStatus(204)
  await server.settled()
  server.objects.assertNone()
}
