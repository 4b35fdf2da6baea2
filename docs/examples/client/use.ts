import { ApiError, type Client, createClient } from './sdk.ts'
import { server } from './server.ts'

export async function overHttp(baseUrl: string) {
  const client = createClient({
    baseUrl,
    headers: async () => ({ authorization: `Bearer ${await freshToken()}` }),
    timeout: 5_000,
  })
  return client.books.get({ query: { words: ['Kin', 'red'], limit: 5 } }).data()
}

/** Without a network, for tests and for calls within one process. */
export const client: Client = createClient({
  baseUrl: 'http://app.test',
  fetch: (request) => server.fetch(request),
})

export async function byStatus(id: string) {
  const answer = await client.books.byId(id).get()
  if (answer.ok) return answer.data.title
  if (answer.status === 404) return answer.data.code
  return `answered with ${answer.status}`
}

export async function orThrow() {
  try {
    const book = await client.books.post({ body: { title: 'Dawn' } }).data()
    return book.title
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${JSON.stringify(error.data)}`
    throw error
  }
}

export async function upload(cover: Blob) {
  return client.books.byId('1').cover.put({ body: { cover } }).data()
}

export async function others() {
  const file = await client.files.rest('2026/may/report.txt').get().data()
  const events = await client.events.get().raw()
  return [file, await events.text()]
}

const freshToken = async () => 'token'

export async function watch(api: Client, id: string) {
  const socket = api.books.byId(id).loans.socket({ query: { reader: 'Ada' }, reconnect: true })
  socket.send({ type: 'lend', data: { days: 14 } })
  for await (const message of socket) {
    if (message.type === 'error') throw new Error(message.data.message)
    if (message.type === 'lent') break
  }
  socket.close()
  return (await socket.closed).code
}
