import { definePlugin, memoryQueue, mqtt, PolicyManager, RouteCollection, Server } from 'framework'
import { type AsyncApiDocument, describeMessages } from 'framework/plugins/asyncapi'
import { describeServer } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { messageProblemsOf } from '../../support/asyncapi.ts'
import { memoryLogger } from '../../support/kernel.ts'

function makeServer(plugins: object = {}): Server {
  return new Server({ router: new RouteCollection(), plugins: { websocket: true, ...plugins } as {} })
}

/** The description of a server, valid in every respect. */
function documentOf(server: Server, options: Parameters<typeof describeMessages>[1] = {}): AsyncApiDocument {
  const document = describeMessages(server, options)
  expect(messageProblemsOf(document)).toEqual([])
  return document
}

const text = { type: 'string' } as const
const handlers = { message: () => {} }
const add = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const
const payloads = ({ channels }: AsyncApiDocument, id: string) =>
  Object.fromEntries(Object.entries(channels[id]!.messages).map(([key, { payload }]) => [key, payload]))

describe('websockets', () => {
  test('a route is a channel with its address, its parameters and the binding of websockets', () => {
    const server = makeServer()
    server.ws(
      '/rooms/:room/:seat?',
      {
        params: { type: 'object', properties: { room: { enum: ['red', 'blue'], description: 'Which one' } } },
        query: {
          type: 'object',
          properties: { name: text, limit: { type: 'integer', default: 5 } },
          required: ['name', 'limit'],
        },
        headers: { type: 'object', properties: { 'x-device': text } },
        socket: { protocols: ['v2', 'v1'] },
      },
      handlers,
    )
    const { channels, operations, ...around } = documentOf(server)
    expect(around).toEqual({
      asyncapi: '3.0.0',
      info: { title: 'API', version: '1.0.0' },
      defaultContentType: 'application/json',
    })
    expect(Object.keys(channels)).toEqual(['roomsByRoomBySeat', 'roomsByRoom'])
    expect(channels.roomsByRoomBySeat).toMatchObject({
      address: '/rooms/{room}/{seat}',
      parameters: { room: { enum: ['red', 'blue'], description: 'Which one' }, seat: {} },
      tags: [{ name: 'rooms' }],
      'x-subprotocols': ['v2', 'v1'],
      bindings: {
        ws: {
          method: 'GET',
          query: {
            type: 'object',
            properties: { name: text, limit: { type: 'integer', default: 5 } },
            required: ['name'],
          },
          headers: {
            properties: { 'x-device': text, 'Sec-WebSocket-Protocol': { type: 'string' } },
            required: ['Sec-WebSocket-Protocol'],
          },
          bindingVersion: '0.1.0',
        },
      },
    })
    expect(Object.values(operations).map(({ action, channel }) => [action, channel.$ref])).toContainEqual([
      'receive',
      '#/channels/roomsByRoom',
    ])
  })

  test('typed messages are in their envelope, with the frame that answers an invalid one', () => {
    const server = makeServer()
    server.ws(
      '/sum',
      { incoming: { add, hello: z.string().optional() }, outgoing: { add: { type: 'number' } } },
      handlers,
    )
    const document = documentOf(server)
    expect(payloads(document, 'sum')).toMatchObject({
      add: { type: 'object', properties: { type: { const: 'add' }, data: add }, required: ['type', 'data'] },
      hello: { properties: { type: { const: 'hello' }, data: text }, required: ['type'] },
      addSent: { properties: { type: { const: 'add' }, data: { type: 'number' } } },
      error: { properties: { type: { const: 'error' }, data: { $ref: '#/components/schemas/InvalidMessage' } } },
    })
    expect(document.operations).toEqual({
      receiveSum: {
        action: 'receive',
        channel: { $ref: '#/channels/sum' },
        messages: [{ $ref: '#/channels/sum/messages/add' }, { $ref: '#/channels/sum/messages/hello' }],
      },
      sendSum: {
        action: 'send',
        channel: { $ref: '#/channels/sum' },
        messages: [{ $ref: '#/channels/sum/messages/addSent' }, { $ref: '#/channels/sum/messages/error' }],
      },
    })
  })

  test('the frame in the description is the one that the server sends', async () => {
    await using server = makeServer()
    server.ws('/sum', { incoming: { add }, outgoing: { sum: text } }, handlers)
    const { components } = documentOf(server)
    const socket = await server.inject.ws('/sum')
    socket.send({ type: 'add', data: { a: 'x' } })
    const frame = (await socket.next()) as { type: string; data: { code: string; errors: object[] } }
    const { properties, required } = components!.schemas!.InvalidMessage as never as {
      properties: { code: { const: string }; errors: { items: { properties: object } } }
      required: string[]
    }
    expect(frame.data.code).toBe(properties.code.const)
    expect(Object.keys(frame.data)).toEqual(expect.arrayContaining(required))
    for (const one of frame.data.errors) {
      expect(Object.keys(properties.errors.items.properties)).toEqual(expect.arrayContaining(Object.keys(one)))
    }
  })

  test('an untyped socket has messages of any content', () => {
    const server = makeServer()
    server.ws('/echo', handlers)
    const { channels, operations } = documentOf(server)
    expect(Object.keys(operations)).toEqual(['receiveEcho', 'sendEcho'])
    expect(channels.echo!.messages.message).toEqual({ name: 'message', description: 'Text or bytes of any content.' })
  })

  test('schemas of every kind are of draft 7, and those with a name are components', () => {
    const server = makeServer()
    const Point = z.tuple([z.number(), z.number()]).meta({ id: 'Point' })
    const Old = {
      $id: 'Old',
      type: 'object',
      properties: { a: text, self: { $ref: '#', description: 'the same again' } },
      dependentRequired: { a: ['self'] },
      minContains: 1,
    } as const
    server.ws('/draw', { incoming: { point: Point, line: z.array(Point) }, outgoing: { old: Old } }, handlers)
    const { components } = documentOf(server)
    expect(components!.schemas).toMatchObject({
      Point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }] },
      Old: {
        dependencies: { a: ['self'] },
        properties: { self: { allOf: [{ $ref: '#/components/schemas/Old' }], description: 'the same again' } },
      },
    })
    expect(components!.schemas!.Old).not.toHaveProperty('minContains')
  })

  test('policies are security schemes, with their roles beside them', () => {
    const manager = new PolicyManager({ rooms: { enter: () => true } })
    const server = makeServer()
    server.ws('/rooms', { policy: { manager, scope: 'rooms', handler: 'enter' } }, handlers)
    server.ws('/open', handlers)
    const { operations, components } = documentOf(server)
    expect(operations.receiveRooms).toMatchObject({
      security: [{ $ref: '#/components/securitySchemes/credential' }],
      'x-security': [{ credential: ['rooms.enter'] }],
    })
    expect(components!.securitySchemes).toMatchObject({ credential: { type: 'http', scheme: 'bearer' } })
    expect(operations.receiveOpen).not.toHaveProperty('security')

    const key = { type: 'apiKey', in: 'query', name: 'key' }
    const own = documentOf(server, { security: [{ key: [] }], components: { securitySchemes: { key } } })
    expect(own.operations.receiveOpen!.security).toEqual([{ $ref: '#/components/securitySchemes/key' }])
    expect(own.components!.securitySchemes).toEqual({ key: { type: 'httpApiKey', in: 'query', name: 'key' } })
  })

  test('apidoc describes the channel, and false leaves it out; neither is in OpenAPI', () => {
    const server = makeServer()
    server.ws(
      '/a',
      { apidoc: { operationId: 'chat', summary: 'Talk', tags: ['talk'], deprecated: true, 'x-team': 1 } },
      handlers,
    )
    server.ws('/b', { apidoc: false }, handlers)
    const { channels } = documentOf(server)
    expect(channels).toMatchObject({
      chat: {
        address: '/a',
        summary: 'Talk',
        tags: [{ name: 'talk' }],
        'x-team': 1,
        messages: { message: { deprecated: true } },
      },
    })
    expect(Object.keys(channels)).toEqual(['chat'])
    expect(describeServer(server).paths).toEqual({})
    expect(describeMessages(server, { include: ({ path }) => path !== '/a' }).channels).toEqual({})
  })

  test('a page that shares the path of a websocket is in both descriptions', () => {
    const server = makeServer()
    server.get('/chat', { websocket: handlers }, () => 'page')
    expect(Object.keys(documentOf(server).channels)).toEqual(['chat'])
    expect(Object.keys(describeServer(server).paths)).toEqual(['/chat'])
  })
})

describe('channels that are not routes', () => {
  test('queues with a subscriber and MQTT subscriptions are channels with their schemas', async () => {
    const server = makeServer({ queues: true, mqtt: { connect: { provider: 'memory' } } })
    const orders = memoryQueue('described-orders', { schema: z.object({ book: z.int() }).meta({ id: 'Order' }) })
    const queued = await orders.subscribe(() => {})
    const subscribed = [
      mqtt.subscribe('described/+/temperature/#', () => {}, { qos: 1, schema: { type: 'number' } }),
      mqtt.subscribe('$share/group/described/doors', () => {}, { schema: { type: 'object' } }),
      mqtt.subscribe('$share/a/described/windows', () => {}, { qos: 2, schema: { type: 'string' } }),
      mqtt.subscribe('$share/b/described/windows', () => {}, { qos: 0, schema: { type: 'string' } }),
    ]
    try {
      const { channels, operations } = documentOf(server)
      expect(channels.describedOrders).toMatchObject({
        address: 'described-orders',
        'x-engine': 'memory',
        messages: { 'described-orders': { payload: { $ref: '#/components/schemas/Order' } } },
      })
      expect(channels.describedLevel2TemperatureRest).toMatchObject({
        address: 'described/{level2}/temperature/{rest}',
        'x-filter': 'described/+/temperature/#',
        messages: { message: { payload: { type: 'number' } } },
      })
      expect(channels.describedDoors).toMatchObject({
        address: 'described/doors',
        'x-filter': '$share/group/described/doors',
      })
      expect(channels.describedWindows).toMatchObject({
        'x-filter': ['$share/a/described/windows', '$share/b/described/windows'],
      })
      expect(operations.receiveDescribedWindows).toMatchObject({ bindings: { mqtt: { qos: 2 } } })
      expect(operations.receiveDescribedLevel2TemperatureRest).toMatchObject({
        action: 'receive',
        bindings: { mqtt: { qos: 1 } },
      })
    } finally {
      await queued.unsubscribe()
      for (const one of subscribed) await one.unsubscribe()
    }
  })

  test('the document follows the subscriptions, and is one object meanwhile', async () => {
    await using server = makeServer({ asyncapi: true, queues: true })
    await server.ready()
    const service = server.services.get('asyncapi')
    const before = service.document()
    expect(service.document()).toBe(before)
    const handle = await memoryQueue('described-late').subscribe(() => {})
    expect(Object.keys(service.document().channels)).toEqual(['describedLate'])
    expect(service.document()).toBe(service.document())
    await handle.unsubscribe()
    expect(service.document().channels).toEqual({})
  })

  test('servers are named by their protocols, and channels say on which they are', async () => {
    const server = makeServer({ queues: true })
    server.ws('/echo', handlers)
    const handle = await memoryQueue('described-served').subscribe(() => {})
    const servers = [
      { url: 'https://api.example.com/v1', description: 'Here' },
      { url: 'wss://{region}.example.com', variables: { region: { default: 'eu', enum: ['eu', 'us'] } } },
      { url: 'memory://here' },
    ]
    const document = documentOf(server, { servers })
    await handle.unsubscribe()
    expect(document.servers).toEqual({
      wss: { host: 'api.example.com', protocol: 'wss', pathname: '/v1', description: 'Here' },
      wss2: {
        host: '{region}.example.com',
        protocol: 'wss',
        variables: { region: { default: 'eu', enum: ['eu', 'us'] } },
      },
      memory: { host: 'here', protocol: 'memory' },
    })
    expect(document.channels.echo!.servers).toEqual([{ $ref: '#/servers/wss' }, { $ref: '#/servers/wss2' }])
    expect(document.channels.describedServed!.servers).toEqual([{ $ref: '#/servers/memory' }])
  })
})

describe('plugins', () => {
  test('a plugin adds channels of its own, and messages to a websocket, where it takes the place of any content that no handler has', () => {
    const rooms = definePlugin({
      name: 'rooms',
      asyncapi: {
        exchange: ({ path }) =>
          ['/live', '/quiet'].includes(path)
            ? { protocol: 'ws', send: [{ name: 'joined', data: { type: 'string' } }] }
            : undefined,
        channels: () => [
          {
            address: 'orders/{id}',
            protocol: 'amqp',
            parameters: { id: { description: 'The order' } },
            send: [{ name: 'changed', payload: { $id: 'Change', type: 'object' } }],
          },
        ],
      },
    })
    const server = new Server({ router: new RouteCollection(), plugins: [rooms()] })
    server.ws('/live', handlers)
    const withSockets = makeServer()
    withSockets.register(rooms())
    withSockets.ws('/live', handlers)
    withSockets.ws('/quiet', { close: () => {} })
    expect(Object.keys(documentOf(server).channels)).toEqual(['live', 'ordersId'])
    const { channels, operations } = documentOf(withSockets)
    expect(Object.keys(channels.live!.messages)).toEqual(['message', 'messageSent', 'joined'])
    expect(Object.keys(channels.quiet!.messages)).toEqual(['message', 'joined'])
    expect(operations.sendQuiet!.messages).toEqual([{ $ref: '#/channels/quiet/messages/joined' }])
    expect(channels.ordersId).toMatchObject({ parameters: { id: { description: 'The order' } } })
  })

  test('data that no one reads is a mistake of the plugin, and one that fails takes only its own words with it', async () => {
    const misspelt = definePlugin({ name: 'misspelt', asyncapi: { chanels: () => [] } as never })
    const make = (plugin: ReturnType<typeof misspelt>) =>
      new Server({ router: new RouteCollection(), plugins: [plugin] })
    expect(() => describeMessages(make(misspelt()))).toThrow('Did you mean "channels"?')
    const failing = definePlugin({
      name: 'failing',
      asyncapi: {
        channels: () => {
          throw new Error('no connection')
        },
      },
    })
    const logger = memoryLogger()
    await using server = new Server({ router: new RouteCollection(), plugins: { asyncapi: true }, logger })
    server.register(failing())
    await server.ready()
    expect(server.services.get('asyncapi').document().channels).toEqual({})
    expect(JSON.stringify(logger.entries)).toContain('no connection')
  })
})

describe('the served document', () => {
  test('JSON and YAML at a path of their own, with an etag', async () => {
    await using server = makeServer({ asyncapi: { path: '/messages', info: { title: 'Rooms', version: '2.0.0' } } })
    server.ws('/echo', handlers)
    const json = await server.inject.get('/messages.json')
    expect(json.assertStatus(200).body()).toMatchObject({ info: { title: 'Rooms' }, channels: { echo: {} } })
    const again = await server.inject.get('/messages.json', {
      headers: { 'if-none-match': String(json.headers().etag) },
    })
    again.assertStatus(304)
    const yaml = await server.inject.get('/messages.yaml')
    expect(yaml.assertStatus(200).text()).toContain('asyncapi: "3.0.0"')
  })

  test('a policy or a middleware keeps others out, and one that is null fails the boot', async () => {
    const manager = new PolicyManager({ docs: { read: () => false } })
    await using server = makeServer({ asyncapi: { policy: { manager, scope: 'docs', handler: 'read' } } })
    for (const ending of ['json', 'yaml']) (await server.inject.get(`/asyncapi.${ending}`)).assertStatus(401)
    for (const guard of [{ policy: null }, { policies: {} }, { middlewares: [undefined] }]) {
      const boot = async () => await using(makeServer({ asyncapi: guard }))
      await expect(boot()).rejects.toThrow()
    }
  })

  test('before boot the service names the remedy', () => {
    const server = makeServer({ asyncapi: true })
    expect(() => server.services.get('asyncapi').document()).toThrow('await server.ready()')
  })
})

async function using(server: Server): Promise<void> {
  await server.ready()
  await server.close()
}
