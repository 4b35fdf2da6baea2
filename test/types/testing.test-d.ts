import { type QueueService, Server } from 'framework'
import { type MockResponse, type TestServer, testServer } from 'framework/testing'
import type { Equal, Expect, NotAny } from './expect.ts'

interface NewUser {
  name: string
}
const server = new Server()
const client = server.getMockServer()

// The generics type the body, the query and the body of the response.
const plain = await server.inject.get('/users', { query: { page: 1, tag: ['a', 'b'], left: undefined } })
const created = await client.post<NewUser>('/users', { body: { name: 'Ada' } })
const found = await server.inject.get<never, { page: number }, NewUser[]>('/users', { query: { page: 1 } })
const named = await client.request<NewUser, { dry: boolean }>('PUT', '/users/1', {
  body: { name: 'Ada' },
  query: { dry: true },
})
// @ts-expect-error the body is not a user
client.post<NewUser>('/users', { body: { nam: 'Ada' } })
// @ts-expect-error the query has another type
client.request<NewUser, { dry: boolean }>('PUT', '/users/1', { query: { dry: 'yes' } })
// @ts-expect-error no such option
client.get('/users', { bodi: {} })

// Assertions keep the type, and are chained.
const chained = found
  .assertStatus(200)
  .assertBodySubset([{}])
  .assertCustom(() => true)
// @ts-expect-error an async check would not be awaited
found.assertCustom(async () => {})

export type Checks = [
  Expect<NotAny<typeof plain>>,
  Expect<Equal<ReturnType<typeof plain.statusCode>, number>>,
  Expect<Equal<typeof created, MockResponse<unknown>>>,
  Expect<Equal<typeof named, MockResponse<unknown>>>,
  Expect<Equal<typeof chained, MockResponse<NewUser[]>>>,
]
export const users: NewUser[] = found.body()
export const user: NewUser = created.body<NewUser>()
export const unknownBody: unknown = plain.body()
export const header: string | readonly string[] | undefined = plain.headers()['Content-Type']

// A server under test keeps its own type, however it is given.
const shop = () => new Server({ plugins: { queues: { run: true } } })
export const fromFunction: TestServer<ReturnType<typeof shop>> = await testServer(shop)
export const fromModule: TestServer<ReturnType<typeof shop>> = await testServer(async () => ({ server: shop() }))
const tested = await testServer(shop(), { services: 'real' })
export type TestedChecks = [
  Expect<Equal<typeof tested.services.queues, QueueService>>,
  Expect<Equal<ReturnType<typeof tested.emails.assertCount>, typeof tested.emails>>,
]
tested.replace('queues', { health: async () => {} })
// @ts-expect-error no such service
tested.replace('queue', {})
// @ts-expect-error of another type
tested.replace('queues', { health: 1 })
tested.emails.assertSome({ to: /example/, subject: 'Hello' }).assertNone({ to: 'ada@example.org' })
// @ts-expect-error no such member
tested.emails.assertSome({ subjekt: 'Hello' })
// @ts-expect-error not a server
void testServer({ listen() {} })
