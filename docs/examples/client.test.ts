import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ApiDocument } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import type { MessageDocument } from '../../cli/sdk/messages.ts'
import { describeMessages } from '../../plugins/asyncapi/index.ts'
import { describeServer } from '../../plugins/openapi/index.ts'
import type { WebSocketClass } from './client/sdk.ts'
import { server } from './client/server.ts'
import { byStatus, client, orThrow, others, overHttp, upload, watch } from './client/use.ts'

afterAll(() => server.close())

test('sdk.ts is what the command writes: framework generate-sdk --entry server.ts --out sdk.ts', () => {
  const command = 'framework generate-sdk --entry server.ts --out sdk.ts'
  const written = readFileSync(join(import.meta.dirname, 'client/sdk.ts'), 'utf8')
  const client = generateClient(describeServer(server) as ApiDocument, {
    command,
    messages: describeMessages(server) as MessageDocument,
  })
  expect(written.trimEnd()).toBe(client.trimEnd())
})

test('answers by status, data or an error, files, streams', async () => {
  expect([await byStatus('1'), await byStatus('9')]).toEqual(['Kindred', 'BookNotFoundError'])
  expect(await orThrow()).toBe('Dawn')
  expect(await upload(new Blob(['12345']))).toEqual({ bytes: 5 })
  const [file, events] = await others()
  expect([file, String(events)]).toEqual(['a file', expect.stringContaining('event: hello\ndata: 1\n')])
})

test('over HTTP, with a header from a function', async () => {
  const { port } = await server.listen()
  expect(await overHttp(`http://127.0.0.1:${port}/`)).toEqual([{ id: '1', title: 'Kindred' }])
  const { createClient } = await import('./client/sdk.ts')
  const overSockets = createClient({ baseUrl: `http://127.0.0.1:${port}`, WebSocket: WebSocket as WebSocketClass })
  expect(await watch(overSockets, '1')).toBe(1000)
})

test('a message that cannot be sent is reported', async () => {
  expect(() => client.books.byId('..')).toThrow('the parameter "id" is "..", which cannot be sent in a path')
  await expect(client.books.get({ query: { words: [{}] as never } })).rejects.toThrow(
    '"words" in the query is an object',
  )
})

test('onError sees every failure once', async () => {
  const { createClient } = await import('./client/sdk.ts')
  const seen: unknown[] = []
  const watched = createClient({
    baseUrl: 'http://app.test',
    fetch: (request) => (request.url.endsWith('/1') ? Promise.reject(new Error('offline')) : server.fetch(request)),
    onError: (error) => void seen.push((error as Error).message),
  })
  await watched.books.byId('9').get()
  await watched.books
    .byId('9')
    .get()
    .data()
    .catch(() => {})
  await expect(watched.books.byId('1').get()).rejects.toThrow('offline')
  await watched.books.get()
  expect(seen).toEqual(['GET /books/9 was answered with 404', 'GET /books/9 was answered with 404', 'offline'])
})
