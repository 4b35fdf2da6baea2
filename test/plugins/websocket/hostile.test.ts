import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { definePlugin, RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { close, type Frame, FrameClient, text } from '../../support/frames.ts'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
const clients: { end(): void }[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  for (const server of servers.splice(0)) await server.close()
})

function built(define: (routes: RouteCollection) => void, websocket: object | true = true, more: object = {}) {
  const router = new RouteCollection()
  define(router)
  router.get('/page', () => 'page')
  const server = new Server({
    logger: memoryLogger(),
    router,
    port: 0,
    host: '127.0.0.1',
    plugins: { websocket },
    ...more,
  } as {})
  servers.push(server)
  return server
}

async function opened(port: number, path: string, headers: Record<string, string> = {}, ...frames: Frame[]) {
  const client = new FrameClient(port, path, headers)
  clients.push(client)
  await client.opened()
  if (frames.length > 0) client.send(...frames)
  return client
}

const echo = (routes: RouteCollection) => routes.ws('/echo', { message: (socket, message) => socket.send(message) })
const h2c = 'GET /page HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'

/** Sends each request when the previous one has its response; resolves to the number of responses. */
function answers(socket: Socket, request: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    let received = ''
    socket.on('data', (data) => {
      received += data
      const got = received.split('"page"').length - 1
      if (got === count) resolve(got)
      else socket.write(request)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received.split('"page"').length - 1))
    socket.write(request)
  })
}

describe('a connection', () => {
  test('that was upgraded may be silent for longer than one of HTTP is kept', async () => {
    const server = built(echo, true, { limits: { keepAliveTimeout: 100 } })
    const { port } = await server.listen()
    const client = await opened(port, '/echo')
    const idle = connect(port, '127.0.0.1')
    const ended = new Promise((resolve) => idle.on('close', resolve))
    expect(await answers(idle, 'GET /page HTTP/1.1\r\nHost: a\r\n\r\n', 1)).toBe(1)
    await ended
    client.send(text('still here'))
    expect((await client.until(1)).frames[0]?.payload.toString()).toBe('still here')
  })

  test('that breaks off while a handler waits leaves no socket', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    let asked = () => {}
    const waits = new Promise<void>((resolve) => {
      asked = resolve
    })
    const closes: number[] = []
    const server = built(
      (routes) =>
        routes.ws('/', {
          async data() {
            asked()
            await gate
          },
          open() {},
          close: (_socket, code) => void closes.push(code),
        }),
      { maxSocketsPerAddress: 1 },
    )
    const { port } = await server.listen()
    const gone = new Promise((resolve) => {
      const watch = (message: unknown) => {
        unsubscribe('net.server.socket', watch)
        ;(message as { socket: Socket }).socket.once('close', resolve)
      }
      subscribe('net.server.socket', watch)
    })
    const client = new FrameClient(port, '/')
    await waits
    client.socket.resetAndDestroy()
    await gone
    go()
    await expect.poll(() => server.services.get('websockets').size).toBe(0)
    expect((await opened(port, '/')).exchange().status).toBe(101)
    expect(closes).toEqual([])
  })

  test('may ask for a protocol that is not spoken with each request, and costs nothing that stays', async () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    process.on('warning', onWarning)
    const { port } = await built(echo).listen()
    const socket = connect(port, '127.0.0.1')
    expect(await answers(socket, h2c, 30)).toBe(30)
    socket.destroy()
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  test('may list websocket among other protocols', async () => {
    const { port } = await built(echo).listen()
    const client = await opened(port, '/echo', { Upgrade: 'h2c, websocket' }, text('hi'))
    expect((await client.until(1)).frames[0]?.payload.toString()).toBe('hi')
  })

  test('has the headers of the handshake once, whatever middlewares set', async () => {
    const server = built((routes) =>
      routes.ws(
        '/',
        {
          middlewares: [
            (_req, res, next) => {
              res.setHeader('sec-websocket-accept', 'other').setHeader('connection', 'close').setHeader('x-own', '1')
              res.setHeader('sec-websocket-protocol', 'other').setHeader('content-length', '5')
              return next()
            },
          ],
        },
        { message() {} },
      ),
    )
    const { port } = await server.listen()
    const { head } = (await opened(port, '/')).exchange()
    const names = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(':')[0]!.toLowerCase())
    expect(names).toEqual(['upgrade', 'connection', 'sec-websocket-accept', 'x-own'])
  })

  test('of a slow reader continues when the client has read, with a limit below the buffers of the system', async () => {
    const server = built((routes) =>
      routes.ws(
        '/',
        { socket: { maxBuffered: 1000, slowReaders: 'wait' } },
        {
          async message(socket) {
            for (let i = 0; i < 3; i++) socket.send('x'.repeat(2000))
            await socket.drained()
            socket.send('drained')
          },
        },
      ),
    )
    const { port } = await server.listen()
    const client = await opened(port, '/', {}, text('go'), text('go'))
    const { frames } = await client.until(8)
    expect(frames.filter(({ payload }) => payload.toString() === 'drained')).toHaveLength(2)
    client.send(close(1000))
  })
})

describe('the limit of sockets', () => {
  test('holds for requests whose data comes late', async () => {
    const server = built(
      (routes) => routes.ws('/', { data: () => new Promise((resolve) => setImmediate(resolve)), open() {} }),
      { maxSockets: 2 },
    )
    const all = await Promise.all(Array.from({ length: 5 }, () => server.inject.ws('/')))
    expect(all.map(({ response }) => response.statusCode()).sort()).toEqual([101, 101, 503, 503, 503])
  })

  test('holds for requests whose response comes late: those are closed before they open', async () => {
    const seen: string[] = []
    const server = built(
      (routes) => routes.ws('/', { open: () => void seen.push('open'), close: () => void seen.push('close') }),
      { maxSockets: 1 },
    )
    server.register(
      definePlugin({
        name: 'late',
        setup: (ctx) => ctx.onSend(() => new Promise<void>((resolve) => setTimeout(resolve, 5))),
      })(),
    )
    const [first, second] = await Promise.all([server.inject.ws('/'), server.inject.ws('/')])
    await second!.assertEnded(1013)
    first!.assertOpen()
    expect(seen).toEqual(['open'])
  })
})

describe('an origin', () => {
  test('is that of the server in one form alone, and not by http where the server is reached by https', async () => {
    const server = built((routes) => routes.ws('/', { open() {} }))
    const from = async (origin: string, host = 'api.example', url = '/') =>
      (await server.inject.ws(url, { headers: { origin, host } })).response.statusCode()
    for (const same of ['http://api.example', 'https://api.example']) expect(await from(same)).toBe(101)
    expect(await from('http://[::1]:8080', '[::1]:8080')).toBe(101)
    for (const other of [
      'https://user@api.example',
      'HTTPS://API.EXAMPLE',
      'https://api.example/',
      'https://api.example.',
      'https://api.example:8443',
      'ftp://api.example',
      'app://api.example',
      'http://api.example, http://evil.example',
      '',
    ])
      expect([other, await from(other)]).toEqual([other, 403])
    expect(await from('https://api.example', 'api.example', 'https://api.example/')).toBe(101)
    expect(await from('http://api.example', 'api.example', 'https://api.example/')).toBe(403)
  })
})

describe('an upgrade', () => {
  test('is refused where a later hook sets a body or fails', async () => {
    for (const [hook, status] of [
      [(_req: unknown, res: { replaceBody(body: string): unknown }) => void res.replaceBody('no'), 500],
      [
        () => {
          throw new Error('no')
        },
        500,
      ],
    ] as const) {
      const server = built((routes) => routes.ws('/', { open() {} }))
      server.register(definePlugin({ name: 'late', setup: (ctx) => ctx.onSend(hook as never) })())
      ;(await server.inject.ws('/')).assertRefused(status)
      expect(server.services.get('websockets').size).toBe(0)
    }
  })

  test('cannot be the response to a request that does not ask for one', async () => {
    const server = built((routes) => routes.get('/', (_req, res) => res.upgrade(() => {})))
    const res = await server.inject.get('/')
    res.assertStatus(426).assertBodySubset({ code: 'UpgradeRequiredError' })
  })
})

test('a socket that is terminated before it is open never opens', async () => {
  const seen: string[] = []
  const server = built((routes) =>
    routes.ws('/', { open: () => void seen.push('open'), close: () => void seen.push('close') }),
  )
  server.register(
    definePlugin({
      name: 'impatient',
      setup: (ctx) =>
        ctx.onResponse(() => {
          for (const socket of ctx.services.get('websockets')) socket.terminate()
        }),
    })(),
  )
  const socket = await server.inject.ws('/')
  await socket.assertEnded(1006)
  expect([seen, server.services.get('websockets').size]).toEqual([[], 0])
})

test('a message may have 256 MB at most: a larger limit would be none', async () => {
  const routes = new RouteCollection()
  const of = (maxMessageSize: string) => () =>
    new Server({ logger: memoryLogger(), router: routes, plugins: { websocket: { maxMessageSize } } })
  expect(of('4gb')).toThrow(/maxMessageSize.*at most "256mb"/)
  servers.push(of('256mb')())
})
