import { HttpError, RouteCollection, Server } from 'framework'
import { graphql, json, websocket } from 'framework/plugins'
import type { MockSocket } from 'framework/testing'
import { createClient } from 'graphql-ws'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

let returned = 0
async function* count(to: number) {
  try {
    for (let i = 1; i <= to; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      yield { count: i }
    }
  } finally {
    returned++
  }
}

const typeDefs = `
  type Query { hello(name: String): String!, who: String, broken: String }
  type Mutation { add(a: Int!, b: Int!): Int! }
  type Subscription { count(to: Int!): Int!, broken: Int, noEvents: Int }
`
const resolvers = {
  Query: {
    hello: (_parent: unknown, { name }: { name?: string }) => `hello ${name ?? 'you'}`,
    who: (_parent: unknown, _args: unknown, { user }: { user?: string }) => user,
    broken() {
      throw new Error('a secret')
    },
  },
  Mutation: { add: (_parent: unknown, { a, b }: { a: number; b: number }) => a + b },
  Subscription: {
    count: { subscribe: (_parent: unknown, { to }: { to: number }) => count(to) },
    broken: {
      subscribe() {
        throw new Error('a secret')
      },
    },
    noEvents: { subscribe: () => 'a secret' },
  },
}

function started(graphql: object = {}, plugins: object = {}) {
  const server = new Server({
    logger: memoryLogger(),
    port: 0,
    host: '127.0.0.1',
    router: new RouteCollection(),
    plugins: { websocket: true, graphql: { schema: { typeDefs, resolvers }, websocket: true, ...graphql }, ...plugins },
  } as {}) as unknown as Server
  servers.push(server)
  return server
}

async function opened(server: Server, payload?: object): Promise<MockSocket> {
  const socket = await server.inject.ws('/graphql', { protocols: ['graphql-transport-ws'] })
  socket.send({ type: 'connection_init', ...(payload && { payload }) })
  await socket.assertNext({ type: 'connection_ack' })
  return socket
}

const subscribe = (id: string, query: string, more: object = {}) => ({
  type: 'subscribe',
  id,
  payload: { query, ...more },
})

describe('GraphQL over a websocket', () => {
  test('runs queries, mutations and subscriptions of a client of graphql-ws', async () => {
    const server = started()
    const { port } = await server.listen()
    const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket, lazy: false })
    const all = async (query: string, variables = {}) => {
      const results: unknown[] = []
      for await (const result of client.iterate({ query, variables })) results.push(result)
      return results
    }
    expect(await all('query Q($name: String) { hello(name: $name) }', { name: 'Ada' })).toEqual([
      { data: { hello: 'hello Ada' } },
    ])
    expect(await all('mutation { add(a: 1, b: 2) }')).toEqual([{ data: { add: 3 } }])
    expect(await all('subscription { count(to: 3) }')).toEqual([1, 2, 3].map((one) => ({ data: { count: one } })))
    await client.dispose()
  })

  test('ends the source of events when the client completes, leaves, or the server closes', async () => {
    const server = started()
    returned = 0
    const socket = await opened(server)
    socket.send(subscribe('1', 'subscription { count(to: 1000000) }'))
    await socket.assertNext({ id: '1', type: 'next' })
    socket.send({ type: 'complete', id: '1' })
    await expect.poll(() => returned).toBe(1)
    socket.send(subscribe('2', 'subscription { count(to: 1000000) }'))
    await expect.poll(() => socket.received().some((one) => (one as { id?: string }).id === '2')).toBe(true)
    await socket.close()
    await expect.poll(() => returned).toBe(2)
    const other = await opened(server)
    other.send(subscribe('3', 'subscription { count(to: 1000000) }'))
    await other.assertNext({ id: '3' })
    await server.close()
    expect([await other.ended, returned]).toEqual([{ code: 1001, reason: 'the server is shutting down' }, 3])
  })

  test('sends refusals as HTTP does: limits, documents that are not valid, masked errors', async () => {
    const server = started({ limits: { depth: 15, aliases: 2 }, apolloOptions: { introspection: false } })
    const socket = await opened(server)
    const errorOf = async (query: string, more?: object) => {
      const id = String(socket.received().length)
      socket.send(subscribe(id, query, more))
      return socket.assertNext<{ type: string; payload: unknown }>({ id })
    }
    const next = async () => void (await socket.next())
    expect(await errorOf('{ a: hello b: hello c: hello }')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'LIMIT_EXCEEDED' } }],
    })
    expect(await errorOf('{ nothing }')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    })
    expect(await errorOf('{')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }],
    })
    expect(await errorOf('{ broken }')).toMatchObject({
      type: 'next',
      payload: { data: { broken: null }, errors: [{ message: 'Internal server error', path: ['broken'] }] },
    })
    await next()
    for (const field of ['broken', 'noEvents']) {
      expect(await errorOf(`subscription { ${field} }`)).toMatchObject({
        payload: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
      })
      await next()
    }
    // The other operations of the websocket go on.
    expect(await errorOf('{ hello }')).toMatchObject({ payload: { data: { hello: 'hello you' } } })
    expect(JSON.stringify(socket.received())).not.toContain('secret')
  })

  test('makes the context of each operation, with the connection parameters of the client', async () => {
    const context = ({ connectionParams }: { connectionParams?: { token?: string } }) => {
      if (connectionParams?.token === 'wrong') throw new HttpError(401)
      return { user: connectionParams?.token }
    }
    const server = started({ apolloOptions: { context } })
    const socket = await opened(server, { token: 'ada' })
    socket.send(subscribe('1', '{ who }'))
    await socket.assertNext({ type: 'next', payload: { data: { who: 'ada' } } })
    const other = await opened(server, { token: 'wrong' })
    other.send(subscribe('1', '{ who }'))
    await other.assertNext({ type: 'error', payload: [{ message: 'Internal server error' }] })
  })

  test('closes a client that violates the protocol', async () => {
    const server = started({ websocket: { maxOperations: 2 } })
    const hasty = started({ websocket: { connectionInitTimeout: 50 } })
    const raw = (of = server) => of.inject.ws('/graphql', { protocols: ['graphql-transport-ws'] })
    await (await raw()).send('{').assertEnded(4400)
    await (await raw()).send('{"type":"connection_init","payload":{"__proto__":{}}}').assertEnded(4400)
    await (await raw()).send(new Uint8Array(2)).assertEnded(4400)
    // As deep as a JSON body may be, and one level deeper.
    const deep = (levels: number) =>
      `{"type":"subscribe","id":"1","payload":{"query":"{ hello }","variables":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 1)}}`
    await (await opened(server)).send(deep(64)).assertNext({ id: '1', type: 'next' })
    await (await opened(server)).send(deep(65)).assertEnded(4400)
    await (await raw()).send(subscribe('1', '{ hello }')).assertEnded(4401)
    await (await raw(hasty)).assertEnded(4408)
    const twice = await opened(server)
    await twice.send({ type: 'connection_init' }).assertEnded(4429)
    const same = await opened(server)
    same.send(subscribe('1', 'subscription { count(to: 1000000) }')).send(subscribe('1', '{ hello }'))
    await same.assertEnded(4409)
    const many = await opened(server)
    for (const id of ['1', '2', '3']) many.send(subscribe(id, 'subscription { count(to: 1000000) }'))
    await expect
      .poll(() => many.received())
      .toContainEqual(
        expect.objectContaining({
          id: '3',
          type: 'error',
          payload: [expect.objectContaining({ extensions: { code: 'LIMIT_EXCEEDED' } })],
        }),
      )
  })

  describe('an operation counts towards maxOperations although the client has completed it', () => {
    /** What has been entered, and waits until it is released. */
    function gate() {
      const waiting = new Set<() => void>()
      return {
        waiting,
        wait: () => new Promise<void>((resolve) => void waiting.add(resolve)),
        open() {
          for (const resolve of waiting) resolve()
          waiting.clear()
        },
      }
    }
    const wait = gate()
    const events = gate()
    const endless = () => ({
      next: () => events.wait().then(() => ({ done: true, value: undefined })),
      return: async () => ({ done: true, value: undefined }),
      [Symbol.asyncIterator]() {
        return this
      },
    })
    const slow = {
      typeDefs: `
        type Query { slow: Int, quick: Int }
        type Subscription { slow: Int, endless: Int }
      `,
      resolvers: {
        Query: { slow: wait.wait, quick: () => 1 },
        Subscription: {
          slow: { subscribe: () => wait.wait().then(endless) },
          endless: { subscribe: endless },
        },
      },
    }
    const limited = (socket: MockSocket, id: string) =>
      expect
        .poll(() => socket.received())
        .toContainEqual({
          id,
          type: 'error',
          payload: [{ message: 'A websocket may have 2 operations at once.', extensions: { code: 'LIMIT_EXCEEDED' } }],
        })
    const runs = async (socket: MockSocket, id: string) => {
      socket.send(subscribe(id, '{ quick }'))
      await expect.poll(() => socket.received()).toContainEqual({ id, type: 'next', payload: { data: { quick: 1 } } })
    }

    test.each([
      ['a resolver', '{ slow }', {}],
      ['a subscribe function', 'subscription { slow }', {}],
      ['the context function', '{ quick }', { apolloOptions: { context: wait.wait } }],
    ])('while %s has not ended', async (_name, query, more) => {
      const socket = await opened(started({ schema: slow, websocket: { maxOperations: 2 }, ...more }))
      for (const id of ['1', '2', '3', '4']) socket.send(subscribe(id, query)).send({ type: 'complete', id })
      await expect.poll(() => wait.waiting.size).toBe(2)
      socket.send(subscribe('5', query))
      await limited(socket, '5')
      expect(wait.waiting.size).toBe(2)
      wait.open()
      // Also what is refused gives its place back.
      for (const id of ['6', '7', '8']) socket.send(subscribe(id, '{ nothing }'))
      await expect.poll(() => JSON.stringify(socket.received())).toContain('GRAPHQL_VALIDATION_FAILED')
      if ('apolloOptions' in more) return
      for (const id of ['9', '10', '11']) await runs(socket, id)
    })

    test('and no longer when return() of its source was called, even if it waits on', async () => {
      const socket = await opened(started({ schema: slow, websocket: { maxOperations: 2 } }))
      for (const id of ['1', '2', '3', '4']) {
        socket.send(subscribe(id, 'subscription { endless }'))
        await expect.poll(() => events.waiting.size).toBe(Number(id))
        socket.send({ type: 'complete', id })
      }
      expect(socket.received()).toEqual([{ type: 'connection_ack' }])
      events.open()
    })

    test('and a second stream of the same id counts too, and ends with the websocket', async () => {
      let left = 0
      const counted = () => ({ ...endless(), return: async () => ({ done: true, value: left++ }) })
      const Subscription = { slow: { subscribe: () => wait.wait().then(counted) } }
      const schema = { ...slow, resolvers: { ...slow.resolvers, Subscription } }
      const socket = await opened(started({ schema, websocket: { maxOperations: 2 } }))
      socket.send(subscribe('1', 'subscription { slow }')).send({ type: 'complete', id: '1' })
      socket.send(subscribe('1', 'subscription { slow }'))
      await expect.poll(() => wait.waiting.size).toBe(2)
      wait.open()
      await expect.poll(() => events.waiting.size).toBe(2)
      socket.send(subscribe('2', '{ quick }'))
      await limited(socket, '2')
      await socket.close()
      await expect.poll(() => left).toBe(2)
      events.open()
    })
  })

  test('is opened by the sub-protocol alone, under the options of the route', async () => {
    const server = started({
      route: {
        middlewares: [
          (req: { headers: object }, _res: unknown, next: () => unknown) => {
            if (!('x-pass' in req.headers)) throw new HttpError(401)
            return next()
          },
        ],
      },
    })
    ;(await server.inject.ws('/graphql', { protocols: ['graphql-transport-ws'] })).assertRefused(401)
    const headers = { 'x-pass': 1 }
    ;(await server.inject.ws('/graphql', { headers })).assertRefused(400)
    ;(await server.inject.ws('/graphql', { headers, protocols: ['graphql-transport-ws'] })).assertOpen()
    const res = await server.inject.get('/graphql', {
      headers: { ...headers, 'graphql-require-preflight': 1 },
      query: { query: '{ hello }' },
    })
    res.assertStatus(200).assertBodySubset({ data: { hello: 'hello you' } })
  })

  test('needs the plugin websocket, whether that was never named or is turned off', async () => {
    const message = 'the option graphql.websocket needs the plugin "websocket", which is not registered'
    await expect(started({}, { websocket: false }).ready()).rejects.toThrow(message)
    const schema = { typeDefs: 'type Query { a: Int }' }
    await using server = new Server({
      router: new RouteCollection(),
      plugins: { graphql: { schema, websocket: true } },
    })
    await expect(server.ready()).rejects.toThrow(message)
  })

  test('takes the plugin websocket from a later place of the list', async () => {
    const schema = { typeDefs: 'type Query { a: Int }' }
    await using server = new Server({
      router: new RouteCollection(),
      plugins: [json(), graphql({ schema, websocket: true }), websocket()],
    })
    ;(await server.inject.ws('/graphql', { protocols: ['graphql-transport-ws'] })).assertOpen()
  })
})
