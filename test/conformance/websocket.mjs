import process from 'node:process'
import { RouteCollection, Server } from 'framework'

// Websockets on whichever runtime runs this. Prints the port.
const options = JSON.parse(process.argv[2] ?? '{}')
const quiet = () => {}
/** @type {any} */
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
const router = new RouteCollection()
const closes = /** @type {[number, string][]} */ ([])

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
console.log(JSON.stringify({ port }))
