// Valid and invalid descriptions of messages.
import { type AsyncApiDocument, definePlugin, Server } from 'framework'
import { describeMessages } from 'framework/plugins/asyncapi'
import type { Equal, Expect } from './expect.ts'

const server = new Server({
  plugins: { asyncapi: { path: '/messages', servers: [{ url: 'wss://api.example.com' }], info: { title: 'Rooms' } } },
})
new Server({ plugins: { asyncapi: true } })
// @ts-expect-error it has no page
new Server({ plugins: { asyncapi: { ui: true } } })
// @ts-expect-error a server has an address
new Server({ plugins: { asyncapi: { servers: [{ host: 'api.example.com' }] } } })

const document = describeMessages(server, { components: { securitySchemes: { key: { type: 'httpApiKey' } } } })
export type Described = Expect<Equal<typeof document, AsyncApiDocument>>
export type Service = Expect<Equal<ReturnType<typeof server.services.asyncapi.document>, AsyncApiDocument>>

definePlugin({
  name: 'rooms',
  asyncapi: {
    exchange: ({ path, options }) =>
      path === '/live' && options.websocket !== undefined
        ? { protocol: 'ws', send: [{ name: 'joined', data: { type: 'string' } }] }
        : undefined,
    channels: () => [{ address: 'orders/{id}', protocol: 'amqp', receive: [{ name: 'order' }] }],
  },
})
// @ts-expect-error a channel has an address
definePlugin({ name: 'rooms', asyncapi: { channels: () => [{ protocol: 'amqp' }] } })
// @ts-expect-error a message has a name
definePlugin({ name: 'rooms', asyncapi: { exchange: () => ({ protocol: 'ws', send: [{ data: {} }] }) } })
