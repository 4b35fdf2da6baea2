import { RouteCollection, type RouteOptions, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function started(define: (routes: RouteCollection) => void, websocket: object | true = true, more: object = {}) {
  const router = new RouteCollection()
  define(router)
  const server = new Server({ logger: memoryLogger(), router, plugins: { websocket, ...more } } as {})
  servers.push(server)
  return server
}

test('a websocket is listed as WS, though it is opened with GET', async () => {
  const router = new RouteCollection()
  router.ws('/live', { message() {} })
  const server = new Server({ logger: memoryLogger(), router, plugins: { websocket: true } })
  await server.ready()
  expect(server.printRoutes()).toMatch(/^WS {2}\/live {2}/)
  await server.close()
})

describe('a websocket', () => {
  test('responds to messages, in their order', async () => {
    const server = started((routes) => {
      routes.ws('/echo', {
        async message(socket, message) {
          await new Promise((resolve) => setTimeout(resolve, message === 'slow' ? 20 : 0))
          socket.send(message)
        },
      })
    })
    const socket = await server.inject.ws('/echo')
    socket
      .assertOpen()
      .send('slow')
      .send('fast')
      .send(new Uint8Array([1, 2]))
    expect([await socket.next(), await socket.next(), await socket.next()]).toEqual([
      'slow',
      'fast',
      new Uint8Array([1, 2]),
    ])
    expect(await socket.close(4000, 'enough')).toEqual({ code: 4000, reason: 'enough' })
  })

  test('waits for whatever has a then, as the queries of databases have', async () => {
    const query = (value: unknown) => ({
      // biome-ignore lint/suspicious/noThenProperty: what such queries are.
      then: (resolve: (value: unknown) => void) => void setTimeout(resolve, 5, value),
    })
    const server = started((routes) => {
      routes.ws('/', {
        data: () => query('found') as never,
        open: (socket) => query(void socket.send(`opened for ${socket.data}`)),
        message: (socket, message) => socket.send(message),
      })
    })
    const socket = await server.inject.ws('/')
    socket.send('then this')
    expect([await socket.next(), await socket.next()]).toEqual(['opened for found', 'then this'])
  })

  test('keeps the result of data, the parameters and the address; its messages wait for open', async () => {
    const seen: unknown[] = []
    const server = started((routes) => {
      routes.ws('/rooms/:room', {
        data: (req) => ({ agent: req.headers['user-agent'] }),
        async open(socket) {
          await new Promise((resolve) => setTimeout(resolve, 10))
          seen.push(['open', socket.params.room, socket.data.agent, socket.ip])
        },
        message: (socket, message) => void seen.push(['message', message, socket.isOpen]),
        close: (socket, code, reason) => void seen.push(['close', code, reason, socket.isOpen]),
      })
    })
    const socket = await server.inject.ws('/rooms/7', { headers: { 'user-agent': 'me' }, ip: '10.0.0.1' })
    socket.send('at once')
    await new Promise((resolve) => setTimeout(resolve, 30))
    await socket.close(1000, 'bye')
    expect(seen).toEqual([
      ['open', '7', 'me', '10.0.0.1'],
      ['message', 'at once', true],
      ['close', 1000, 'bye', false],
    ])
  })

  test('is refused as any route is: by a middleware, a schema, an error, a path that does not exist', async () => {
    const server = started((routes) => {
      const handlers = { message() {} }
      routes.ws('/denied', { middlewares: [(_req, res) => res.status(401).json({ error: 'who?' })] }, handlers)
      const query = { type: 'object', properties: { room: { type: 'integer' } }, required: ['room'] } as const
      routes.ws('/checked', { query }, handlers)
      routes.ws('/broken', {
        data() {
          throw Object.assign(new Error('no'), { status: 500 })
        },
        open() {},
      })
    })
    const refused = async (path: string) => (await server.inject.ws(path)).response.statusCode()
    expect(await Promise.all(['/denied', '/checked', '/broken', '/nowhere'].map(refused))).toEqual([401, 422, 500, 404])
    const socket = await server.inject.ws('/denied')
    expect(() => socket.send('x')).toThrow('it was refused with 401: {"error":"who?"}')
    ;(await server.inject.ws('/checked?room=3')).assertOpen()
  })

  test('asks other requests to upgrade', async () => {
    const server = started((routes) => routes.ws('/chat', { message() {} }))
    const res = await server.inject.get('/chat')
    res.assertStatus(426).assertHeader('upgrade', 'websocket').assertHeader('connection', 'upgrade')
    res.assertBodySubset({ code: 'UpgradeRequiredError' })
  })

  test('may stand beside the page of its path', async () => {
    const server = started((routes) => {
      routes.get(
        '/chat',
        { websocket: { open: (socket: { send(text: string): void }) => socket.send('hi') } },
        () => 'page',
      )
    })
    expect((await server.inject.get('/chat')).body()).toBe('page')
    expect(await (await server.inject.ws('/chat')).next()).toBe('hi')
  })

  test('is opened by the pages of its own host and of the origins that are named', async () => {
    const server = started(
      (routes) => {
        routes.ws('/a', { message() {} })
        routes.ws('/b', { socket: { origins: 'any' } }, { message() {} })
      },
      { origins: ['https://app.example'] },
    )
    const from = async (path: string, origin: string) =>
      (await server.inject.ws(path, { headers: { origin, host: 'api.example' } })).response.statusCode()
    expect(await from('/a', 'https://api.example')).toBe(101)
    expect(await from('/a', 'https://app.example')).toBe(101)
    expect(await from('/a', 'https://app.example.evil')).toBe(403)
    expect(await from('/a', 'http://app.example')).toBe(403)
    expect(await from('/a', 'null')).toBe(403)
    expect(await from('/b', 'https://evil.example')).toBe(101)
  })

  test('has one of the sub-protocols of its route', async () => {
    const server = started((routes) => {
      routes.ws('/p', { socket: { protocols: ['v2', 'v1'] } }, { open: (socket) => socket.send(socket.protocol) })
    })
    const socket = await server.inject.ws('/p', { protocols: ['v1', 'v2'] })
    expect([socket.protocol, await socket.next()]).toEqual(['v2', 'v2'])
    ;(await server.inject.ws('/p', { protocols: ['v3'] })).assertRefused(400)
    ;(await server.inject.ws('/p')).assertRefused(400)
  })

  test('takes a handshake of version 13 with a key of 16 bytes alone', async () => {
    const server = started((routes) => routes.ws('/', { message() {} }))
    const old = await server.inject.ws('/', { headers: { 'sec-websocket-version': 8 } })
    const refused = old.assertRefused(426).response.assertHeader('sec-websocket-version', '13')
    refused.assertHeader('upgrade', 'websocket').assertHeader('connection', 'upgrade')
    ;(await server.inject.ws('/', { headers: { 'sec-websocket-key': 'short' } })).assertRefused(400)
  })
})

describe('typed messages', () => {
  const add = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  } as const
  const options = { incoming: { add }, outgoing: { sum: { type: 'number' } } } as const

  test('reach the handler when they are valid, and get an error frame when not', async () => {
    let calls = 0
    const server = started((routes) => {
      routes.ws('/sum', options, {
        message(socket, { data }) {
          calls++
          socket.send({ type: 'sum', data: data.a + data.b })
        },
      })
    })
    const socket = await server.inject.ws('/sum')
    socket.send({ type: 'add', data: { a: 1, b: 2 } })
    await socket.assertNext({ type: 'sum', data: 3 })
    for (const [wrong, message] of [
      ['{', 'the message is not valid JSON'],
      [new Uint8Array(3), 'a message must be JSON text, not bytes'],
      ['null', 'a message is an object with a type'],
      ['{"type":"add","data":{"a":1,"b":2,"__proto__":{}}}', 'the message has the key __proto__'],
      [`{"type":"add","data":${'['.repeat(65)}${']'.repeat(65)}}`, 'the message nests deeper than 65 levels'],
      [{ type: 'toString' }, 'unknown type "toString"; the types are add'],
      [{ type: 'add', data: { a: 1 } }, '"add" is not valid'],
    ] as const) {
      socket.send(wrong)
      const frame = await socket.assertNext<{ data: { message: string } }>({
        type: 'error',
        data: { code: 'InvalidMessageError' },
      })
      expect(frame.data.message).toContain(message)
    }
    expect([calls, server.services.get('websockets').counts.invalid]).toEqual([1, 7])
  })

  test('that are sent are checked where they are sent', async () => {
    const failures: string[] = []
    const server = started((routes) => {
      routes.ws('/sum', options, {
        open(socket) {
          for (const wrong of [{ type: 'sum', data: 'three' }, { type: 'total', data: 3 }, 'text'])
            try {
              socket.send(wrong as never)
            } catch (error) {
              failures.push((error as Error).message)
            }
        },
      })
    })
    await server.inject.ws('/sum')
    await expect
      .poll(() => failures)
      .toEqual([
        '"sum" was not sent: the value: must be number',
        'a message was not sent: its type "total" is not one of sum',
        'a message was not sent: its type, which is not a string, is not one of sum',
      ])
  })
})

describe('a handler that fails', () => {
  test('closes the socket with 1011 and is logged with its path', async () => {
    const server = started((routes) => {
      routes.ws('/rooms/:room', {
        message: () => Promise.reject(new Error('broken')),
      })
    })
    const socket = await server.inject.ws('/rooms/a')
    socket.send('x')
    await socket.assertEnded(1011)
    const { entries } = server.logger as ReturnType<typeof memoryLogger>
    expect(entries.map(({ message }) => message)).toContain('a handler of the websocket /rooms/:room failed')
  })

  test('is given to error, which decides', async () => {
    const server = started((routes) => {
      routes.ws('/', {
        message() {
          throw new Error('broken')
        },
        error: (socket, error) => socket.send(`sorry: ${(error as Error).message}`),
      })
    })
    const socket = await server.inject.ws('/')
    socket.send('x')
    expect(await socket.next()).toBe('sorry: broken')
    socket.assertOpen()
  })
})

describe('the limits', () => {
  test('of the size of a message', async () => {
    const server = started((routes) => {
      routes.ws('/', { message() {} })
      routes.ws('/small', { socket: { maxMessageSize: 10 } }, { message() {} })
    })
    const socket = await server.inject.ws('/small')
    socket.send('12345678901')
    await socket.assertEnded(1009)
    const large = await server.inject.ws('/')
    large.send('x'.repeat(1024 * 1024 + 1))
    await large.assertEnded(1009)
  })

  test('of messages a second', async () => {
    const server = started((routes) => routes.ws('/', { message() {} }), { messagesPerSecond: 5 })
    const socket = await server.inject.ws('/')
    for (let i = 0; i < 20; i++) socket.send(String(i))
    await socket.assertEnded(1008)
  })

  test('of sockets altogether, and of one address', async () => {
    const server = started((routes) => routes.ws('/', { message() {} }), { maxSockets: 3, maxSocketsPerAddress: 2 })
    const open = (ip: string) => server.inject.ws('/', { ip })
    const first = await open('10.0.0.1')
    await open('10.0.0.1')
    ;(await open('10.0.0.1')).assertRefused(429)
    await open('10.0.0.2')
    ;(await open('10.0.0.3')).assertRefused(503)
    await first.close()
    ;(await open('10.0.0.1')).assertOpen()
  })
})

describe('the end of the server', () => {
  test('closes every socket with 1001, and takes no further one', async () => {
    const server = started((routes) => routes.ws('/', { message() {} }))
    const socket = await server.inject.ws('/')
    await server.close()
    expect(await socket.ended).toEqual({ code: 1001, reason: 'the server is shutting down' })
  })
})

describe('the boot fails', () => {
  const boot = (define: (routes: RouteCollection) => void, plugins: object = { websocket: true }) => {
    const router = new RouteCollection()
    define(router)
    const server = new Server({ logger: memoryLogger(), router, plugins } as {})
    servers.push(server)
    return server.ready()
  }

  test('without the plugin', async () => {
    await expect(boot((routes) => routes.ws('/', { message() {} }), {})).rejects.toThrow(/websocket/)
  })

  test('for options of messages on a route without a websocket', async () => {
    const options = { incoming: { a: {} } } as RouteOptions
    await expect(boot((routes) => routes.get('/', options, () => 1))).rejects.toThrow(
      'the option incoming is for websockets only',
    )
  })

  test.each([
    ['JSON Schema', { type: 'object', properties: { a: { type: 'number' } } }],
    ['Zod', z.object({ a: z.number() })],
  ])('for one schema of %s in place of schemas by type', async (_name, incoming) => {
    await expect(boot((routes) => routes.ws('/', { incoming } as never, { message() {} }))).rejects.toThrow(
      'an object of schemas by the type of the message: { joined: schema }, not one schema',
    )
  })

  test('for a message that the framework sends itself', async () => {
    const options = { outgoing: { error: { type: 'object' } } } as const
    await expect(boot((routes) => routes.ws('/', options, { message() {} }))).rejects.toThrow(
      'the schema of the message "error" cannot be used: the framework itself sends messages of this type',
    )
    // A client may report an error of its own.
    await boot((routes) => routes.ws('/', { incoming: options.outgoing }, { message() {} }))
  })

  test.each([
    ['Zod', z.object({ at: z.date() }), '"at" is a date, which JSON cannot represent. Use z.coerce.date()'],
    ['TypeBox', { type: 'object', properties: { at: { type: 'Date' } } }, '"at" is of the type "Date"'],
  ])('for a message that no JSON can be, by %s', async (_name, moved, why) => {
    const incoming = { moved } as never
    await expect(boot((routes) => routes.ws('/', { incoming }, { message() {} }))).rejects.toThrow(
      `the schema of the message "moved" cannot be used: its member ${why}`,
    )
    await boot((routes) => routes.ws('/', { incoming: { moved: z.object({ at: z.coerce.date() }) } }, { message() {} }))
  })

  test('naming the route once', async () => {
    const options = { websocket: { open() {} } } as RouteOptions
    const error = await boot((routes) => routes.post('/rooms', options, () => 1)).catch((one: Error) => one)
    expect((error as Error).message.split('POST /rooms')).toHaveLength(2)
  })

  test('for a websocket of another method', async () => {
    const options = { websocket: { open() {} } } as RouteOptions
    await expect(boot((routes) => routes.post('/', options, () => 1))).rejects.toThrow('a websocket is opened with GET')
  })

  test('for handlers that are not known, or none', async () => {
    await expect(boot((routes) => routes.ws('/', { onMessage() {} } as never))).rejects.toThrow(/"onMessage"|message/)
    await expect(boot((routes) => routes.ws('/', {}))).rejects.toThrow(
      'at least one of data, open, message, close, error',
    )
  })

  test('for a handler that is undefined, which may be the one that refuses clients', async () => {
    const handlers = { data: undefined, message() {} } as never
    await expect(boot((routes) => routes.ws('/', handlers))).rejects.toThrow('"websocket.data" is undefined')
  })

  test('for a schema that cannot be used', async () => {
    const incoming = { add: { type: 'strng' } }
    await expect(boot((routes) => routes.ws('/', { incoming } as never, { message() {} }))).rejects.toThrow(/"add"/)
  })
})

test('the verb refuses invalid arguments', () => {
  const routes = new RouteCollection() as unknown as { ws(...args: unknown[]): void }
  expect(() => routes.ws('/', () => {})).toThrow('the handlers are a function, not an object')
  expect(() => routes.ws('/', [], { open() {} })).toThrow('the options are an array, not an object')
  expect(() => routes.ws('/', {}, { open() {} }, () => {})).toThrow('it received 4 arguments')
  expect(() => routes.ws('/', { websocket: {} }, { open() {} })).toThrow('pass the handlers as the last argument')
})
