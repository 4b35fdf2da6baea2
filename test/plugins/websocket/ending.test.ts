import { once } from 'node:events'
import { type Logger, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { close, FrameClient, text } from '../../support/frames.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { moveSystemClock } from '../../support/system-clock.ts'

const servers: Server[] = []
const clients: { end(): void }[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  for (const server of servers.splice(0)) await server.close()
})

function built(define: (routes: RouteCollection) => void, websocket: object | true = true, more: object = {}) {
  const router = new RouteCollection()
  define(router)
  const options = { logger: memoryLogger() as Logger, router, port: 0, host: '127.0.0.1', drainWindow: 0, ...more }
  const server = new Server({ ...options, plugins: { websocket } } as {})
  servers.push(server)
  return server
}

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('messages that wait for their handler', () => {
  test('are handled after the client has closed, while nothing can be sent; then close runs', async () => {
    const first = gate()
    const seen: unknown[] = []
    const ended = gate()
    const server = built((routes) =>
      routes.ws('/', {
        open: () => first.opened,
        message: (socket, message) => void seen.push([message, socket.isOpen, socket.send('late')]),
        close(_socket, code) {
          seen.push(code)
          ended.open()
        },
      }),
    )
    const socket = await server.inject.ws('/')
    socket.send('1').send('2')
    await socket.close(4000)
    expect([seen, server.services.websockets?.size]).toEqual([[], 1])
    first.open()
    await ended.opened
    expect(seen).toEqual([['1', false, false], ['2', false, false], 4000])
    expect(server.services.get('websockets').counts).toMatchObject({ open: 0, received: 2, sent: 0 })
  })

  test('have a signal that is aborted when the client has closed', async () => {
    const first = gate()
    const ended = gate()
    const seen: unknown[] = []
    const server = built((routes) =>
      routes.ws('/', {
        open: () => first.opened,
        message: (_socket, message, { signal }) => void seen.push([message, signal.aborted, signal.reason?.message]),
        close: () => ended.open(),
      }),
    )
    const socket = await server.inject.ws('/')
    await socket.send('1').close()
    first.open()
    await ended.opened
    expect(seen).toEqual([['1', true, 'the connection of the websocket has ended']])
  })

  test('are handled when the server closes, and not once a handler has closed the socket or failed', async () => {
    const first = gate()
    const seen: unknown[] = []
    const server = built((routes) => {
      routes.ws('/drained', { open: () => first.opened, message: (_socket, message) => void seen.push(message) })
      routes.ws('/closed', {
        open: () => first.opened,
        message(socket, message) {
          seen.push(message)
          socket.close()
        },
      })
      routes.ws('/failed', {
        open: () => first.opened,
        message(_socket, message) {
          seen.push(message)
          throw new Error('broken')
        },
      })
    })
    for (const path of ['drained', 'closed', 'failed'])
      (await server.inject.ws(`/${path}`)).send(`${path} 1`).send(`${path} 2`)
    // The messages of an in-process socket arrive in turns of their own.
    await expect.poll(() => server.services.get('websockets').size).toBe(3)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const closed = server.close()
    first.open()
    await closed
    expect(seen.sort()).toEqual(['closed 1', 'drained 1', 'drained 2', 'failed 1'])
  })
})

test('an iteration over the sockets ends while they are pinged and others open', async () => {
  const server = built((routes) => routes.ws('/', { message() {} }), { pingInterval: 1000 })
  const { port } = await server.listen()
  const open = async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/`)
    clients.push({ end: () => client.terminate() })
    await once(client, 'open')
  }
  await open()
  await open()
  let visited = 0
  for (const socket of server.services.get('websockets')) {
    expect(socket.isOpen).toBe(true)
    if (++visited > 10) break
    await open()
  }
  expect([visited, server.services.get('websockets').size]).toEqual([2, 4])
})

test('shutdown waits for the handlers of clients that do not respond, up to the deadline of the server', async () => {
  const done: string[] = []
  const seen = gate()
  const slow = gate()
  const server = built(
    (routes) =>
      routes.ws('/', {
        async message() {
          seen.open()
          await slow.opened
          done.push('message')
        },
        async close() {
          await new Promise((resolve) => setTimeout(resolve, 50))
          done.push('close')
        },
      }),
    { closeTimeout: 20 },
  )
  const { port } = await server.listen()
  const client = new FrameClient(port, '/')
  clients.push(client)
  await client.opened()
  client.send(text('go'))
  await seen.opened
  const closed = server.close().then(() => done.push('server'))
  await client.until(1)
  slow.open()
  await closed
  expect(done).toEqual(['message', 'close', 'server'])
})

test('within the drain window a websocket opens, at its end it is closed, and then another one is refused', async () => {
  const server = built(
    (routes) => {
      routes.ws('/', { open: (socket) => void socket.send('open') })
      routes.get('/page', () => 'here')
    },
    true,
    {
      drainWindow: 30_000,
      closeTimeout: 60_000,
    },
  )
  const clock = moveSystemClock()
  onTestFinished(() => clock.restore())
  const { port } = await server.listen()
  const first = new FrameClient(port, '/')
  clients.push(first)
  await first.until(1)
  const closed = server.close()
  expect([server.isClosing, server.closing.aborted]).toEqual([true, false])
  const second = new FrameClient(port, '/')
  clients.push(second)
  expect((await second.until(1)).frames).toHaveLength(1)
  expect((await fetch(`http://127.0.0.1:${port}/page`)).status).toBe(200)
  await clock.advance(30_000)
  expect((await first.until(2)).closedWith).toBe(1001)
  ;(await server.inject.ws('/')).assertRefused(503)
  for (const client of clients) client.end()
  await closed
})

test('a handler that hangs does not hold the server beyond its deadline, and does not make closing fail', async () => {
  const server = built((routes) => routes.ws('/', { open: () => new Promise(() => {}) }), true, { closeTimeout: 200 })
  const socket = await server.inject.ws('/')
  await server.close()
  await socket.assertEnded(1001)
})

test('2000 clients that close at once, with messages on their way, leave nothing', async () => {
  let handled = 0
  let closes = 0
  const server = built((routes) =>
    routes.ws('/', {
      async message() {
        await undefined
        handled++
      },
      close: () => void closes++,
    }),
  )
  const sockets = await Promise.all(Array.from({ length: 2000 }, () => server.inject.ws('/')))
  await Promise.all(sockets.map((socket) => socket.send('a').send('b').close()))
  await expect.poll(() => [handled, closes]).toEqual([4000, 2000])
  expect(server.services.get('websockets').size).toBe(0)
})

test('a client that closes twice, and pings and sends after that, is handled once', async () => {
  const codes: number[] = []
  let messages = 0
  const server = built((routes) =>
    routes.ws('/', { message: () => void messages++, close: (_socket, code) => void codes.push(code) }),
  )
  const { port } = await server.listen()
  const client = new FrameClient(port, '/')
  clients.push(client)
  await client.opened()
  client.send(text('1'), close(1000), close(4000), text('2'))
  await expect.poll(() => codes).toEqual([1000])
  expect(messages).toBe(1)
})

describe('send', () => {
  const sent = async (message: unknown) => {
    const server = built((routes) =>
      routes.ws('/', {
        open: (socket) => socket.send(message as string),
        error: (socket, error) => socket.send(`${(error as Error).message}`),
      }),
    )
    return (await server.inject.ws('/')).next()
  }
  const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8])

  test.each([
    ['an ArrayBuffer', bytes.buffer, bytes],
    ['a DataView of a part', new DataView(bytes.buffer, 2, 3), bytes.subarray(2, 5)],
    ['numbers of a part', new Float32Array(bytes.buffer, 4, 1), bytes.subarray(4)],
    ['an empty view', new Uint16Array(0), new Uint8Array(0)],
  ])('sends the bytes of %s', async (_, message, expected) => {
    expect(Buffer.from((await sent(message)) as Uint8Array)).toEqual(Buffer.from(expected))
  })

  test.each([
    [new Map([[1, 2]]), 'an object of the kind Map'],
    [new Set([1]), 'an object of the kind Set'],
    [Promise.resolve(1), 'an object of the kind Promise'],
    [new Blob(['a']), 'an object of the kind Blob'],
    [/a/, 'an object of the kind RegExp'],
    [new Error('a'), 'an object of the kind Error'],
    [Number.NaN, 'NaN'],
    [undefined, 'undefined'],
    [() => 1, 'a function'],
    [Symbol('a'), 'a symbol'],
  ])('refuses %o by name', async (message, kind) => {
    expect(await sent(message)).toBe(
      `a message was not sent: it is ${kind}, which JSON cannot represent. Use null or a plain object`,
    )
  })

  test.each([{}, [], { at: new Date(0) }, Object.create(null)])('sends %o as JSON', async (message) => {
    expect(await sent(message)).toEqual(JSON.parse(JSON.stringify(message)))
  })
})
