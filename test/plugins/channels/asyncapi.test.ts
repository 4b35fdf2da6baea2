import { channel, RouteCollection, Server } from 'framework'
import { describeMessages } from 'framework/plugins/asyncapi'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { messageProblemsOf } from '../../support/asyncapi.ts'

test('the description of messages has what clients ask and receive, with the schemas of the channels', () => {
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

test('a route whose channels neither take messages nor show who is there has none of these', () => {
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
