import { channel, RouteCollection, Server } from 'framework'
import { describeMessages } from 'framework/plugins/asyncapi'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { messageProblemsOf } from '../../support/asyncapi.ts'

test('the description of messages has the messages of clients and their responses, with the schemas of the channels', () => {
  const orders = channel('orders/:id', { join: () => true, message: z.object({ state: z.string() }) })
  const chat = channel('chat', {
    join: () => true,
    publish: () => true,
    presence: () => null,
    message: { type: 'string' } as const,
  })
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [orders, chat] }, {})
  const server = new Server({ router: routes, plugins: { websocket: true, channels: true } })
  const document = describeMessages(server)
  expect(messageProblemsOf(document)).toEqual([])
  const { messages } = document.channels.live!
  expect(Object.keys(messages).sort()).toEqual(
    ['gap', 'join', 'joined', 'leave', 'left', 'message', 'presence', 'publish', 'published', 'refused'].map(
      (one) => `channel_${one}`,
    ),
  )
  const { properties } = messages.channel_message!.payload as { properties: { data: object } }
  expect(properties.data).toMatchObject({
    anyOf: [
      {
        properties: { channel: { pattern: '^orders/[^/]+$' }, payload: { properties: { state: { type: 'string' } } } },
      },
      { properties: { channel: { const: 'chat' }, payload: { type: 'string' } } },
    ],
  })
})

test('a route whose channels neither accept messages nor show presence has none of these', () => {
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [channel('news', { join: () => true })] }, {})
  const server = new Server({ router: routes, plugins: { websocket: true, channels: true } })
  const document = describeMessages(server)
  expect(messageProblemsOf(document)).toEqual([])
  const names = Object.keys(document.channels.live!.messages)
  expect(names).not.toContain('channel_publish')
  expect(names).not.toContain('channel_presence')
  expect(names).not.toContain('message')
})

test('a payload is described as it is sent: as given by the server, as its schema leaves it of a client', async () => {
  const length = z.string().transform((text) => text.length)
  const words = channel('words', { join: () => true, publish: () => true, message: length.pipe(z.number()) })
  const lengths = channel('lengths', { join: () => true, message: length.pipe(z.number()) })
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [words, lengths] }, {})
  await using server = new Server({ router: routes, plugins: { websocket: true, channels: true } })
  const { properties } = describeMessages(server).channels.live!.messages.channel_message!.payload as {
    properties: { data: object }
  }
  expect(properties.data).toMatchObject({
    anyOf: [
      { properties: { payload: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
      { properties: { payload: { type: 'string' } } },
    ],
  })

  const [reader, writer] = [await server.inject.ws('/live'), await server.inject.ws('/live')]
  for (const one of [reader, writer]) {
    one.send({ type: 'channel:join', data: { channel: 'words' } })
    await one.assertNext({ type: 'channel:joined' })
  }
  writer.send({ type: 'channel:publish', data: { channel: 'words', payload: 'three' } })
  await reader.assertNext({ type: 'channel:message', data: { payload: 5 } })
  await words.publish('three' as never)
  await reader.assertNext({ type: 'channel:message', data: { payload: 'three' } })
})

test('payloads that lead to themselves are described, also where two schemas have one name', () => {
  const tree = (more: string) => ({
    $id: 'Tree',
    type: 'object',
    properties: { [more]: { type: 'string' }, branches: { type: 'array', items: { $ref: '#' } } },
    required: [more],
  })
  const Comment = z.object({
    text: z.string(),
    get answers() {
      return z.array(Comment)
    },
  })
  const all = [tree('leaf'), tree('root'), Comment].map((message, at) =>
    channel(`at${at}/:id`, { join: () => true, publish: () => true, message }),
  )
  const routes = new RouteCollection()
  routes.ws('/live', { channels: all }, {})
  const document = describeMessages(new Server({ router: routes, plugins: { websocket: true, channels: true } }))
  expect(messageProblemsOf(document)).toEqual([])
  const { schemas } = document.components!
  expect(Object.keys(schemas!).sort()).toEqual(['At2IdMessage', 'Tree', 'Tree2'])
  for (const [name, more] of [
    ['Tree', 'leaf'],
    ['Tree2', 'root'],
  ] as const) {
    expect(schemas![name]).toMatchObject({
      properties: { [more]: { type: 'string' }, branches: { items: { $ref: `#/components/schemas/${name}` } } },
    })
  }
})
