import { existsSync, readdirSync } from 'node:fs'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { RouteCollection, Server } from 'framework'

/** Starts an application with websockets. @param {import('framework').ServerOptions} options */
export async function start(options) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const router = new RouteCollection()
  const closes = /** @type {[number, string][]} */ ([])

  /** What is reachable, in MB; nothing on Deno, which collects when it likes to. */
  function memory() {
    if ('Deno' in globalThis) return 0
    if ('Bun' in globalThis) globalThis.Bun.gc(true)
    else {
      setFlagsFromString('--expose-gc')
      runInNewContext('gc')()
    }
    const { heapUsed, external } = process.memoryUsage()
    return Math.round((heapUsed + external) / 2 ** 20)
  }

  router.ws('/echo', {
    message: (socket, message) => socket.send(message),
    close: (_socket, code, reason) => void closes.push([code, reason]),
  })
  router.ws('/flood', { socket: { messagesPerSecond: 50 } }, { message() {} })
  router.ws(
    '/headers',
    {
      middlewares: [
        (_req, res, next) => {
          res.header('x-own', 'ü').appendHeader('set-cookie', 'a=1').appendHeader('set-cookie', 'b=2')
          return next()
        },
      ],
    },
    { message() {} },
  )
  router.ws(
    '/slow',
    { socket: { maxBuffered: 100_000, slowReaders: 'close' } },
    {
      async open(socket) {
        const piece = new Uint8Array(65_536)
        while (socket.isOpen) {
          for (let i = 0; i < 50; i++) socket.send(piece)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      },
      close: (_socket, code) => void closes.push([code, 'slow']),
    },
  )
  router.ws(
    '/drained',
    { socket: { maxBuffered: 1000, slowReaders: 'wait' } },
    {
      async message(socket) {
        for (let i = 0; i < 3; i++) socket.send('x'.repeat(2000))
        await socket.drained()
        socket.send('drained')
      },
    },
  )
  const left = /** @type {number[]} */ ([])
  router.ws('/left', { close: (_socket, code) => void left.push(code) })
  router.get('/left-by', () => left)
  router.ws('/protocols', { socket: { protocols: ['v2', 'v1'] } }, { message() {} })
  router.ws('/late', {
    async data() {
      console.error('asked')
      await new Promise((resolve) => setTimeout(resolve, 150))
      console.error('answered')
    },
    open() {},
  })
  router.ws('/denied', { middlewares: [(_req, res) => res.status(401).json({ error: 'who?' })] }, { message() {} })
  // Sends without end to a client that does not read, in each way that there is.
  for (const slowReaders of /** @type {const} */ (['close', 'drop', 'wait']))
    router.ws(
      `/deaf/${slowReaders}`,
      { socket: { maxBuffered: 50_000, slowReaders } },
      {
        async message(socket) {
          for (let i = 0; i < 250 && socket.buffered < 200_000; i++) socket.send(new Uint8Array(65_536))
          await socket.drained()
        },
      },
    )
  const handled = /** @type {unknown[]} */ ([])
  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  router.ws('/ordered', {
    async message(_socket, message) {
      await pause(20)
      handled.push(String(message))
    },
    close: (_socket, code) => void handled.push(code),
  })
  // Reports what a socket says of itself once the client has begun to close.
  router.ws('/closing', {
    async message(socket) {
      for (let i = 0; i < 10_000 && socket.isOpen; i++) await pause(5)
      const { counts } = server.services.websockets
      const before = counts.sent
      handled.push([socket.isOpen, socket.send('late'), counts.sent - before])
    },
    close: () => void handled.push('closed'),
  })
  router.ws(
    '/full',
    { socket: { slowReaders: 'wait' } },
    {
      message(socket) {
        while (socket.buffered < 200_000) socket.send(new Uint8Array(65_536))
        handled.push('full')
      },
      close: () => void handled.push('closed'),
    },
  )
  router.get('/handled', () => handled)
  router.post('/handled', () => handled.splice(0).length)
  router.ws('/bytes', {
    message(socket) {
      const bytes = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7])
      const shared = new Uint8Array(new SharedArrayBuffer(2))
      shared.set([8, 9])
      for (const each of [bytes.buffer, new DataView(bytes.buffer, 2, 3), new Float32Array(bytes.buffer, 4, 1), shared])
        socket.send(each)
      socket.send(shared.buffer)
    },
  })
  router.ws('/slow-close', {
    open() {},
    async close() {
      await pause(300)
      console.error('said goodbye')
    },
  })
  router.get('/crowd', () => ({
    sockets: server.services.websockets.size,
    timers: process.getActiveResourcesInfo?.().filter((one) => one === 'Timeout').length ?? 0,
    descriptors: existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0,
    memory: memory(),
  }))
  router.get('/large', (_req, res) =>
    res.stream(
      (async function* () {
        for (let i = 0; i < 40; i++) yield new Uint8Array(65_536)
      })(),
    ),
  )
  router.get('/page', () => 'page')
  router.get('/closes', () => closes.splice(0))

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    logger,
    router,
    plugins: { websocket: { maxMessageSize: 1024 * 1024, messagesPerSecond: 1_000_000, closeTimeout: 300 } },
    ...options,
  })
  const { port } = await server.listen()
  return { port, stop: () => server.close() }
}
