import { Readable } from 'node:stream'
import { RouteCollection, Server } from 'framework'
import { currentContext } from 'framework/plugins/requestContext'

/** Starts an application with the plugins of the web. @param {import('framework').ServerOptions} options */
export async function start(options) {
  /** @type {string[]} */
  const events = []

  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const long = 'all work and no play makes jack a dull boy. '.repeat(200)

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    logger,
    router: new RouteCollection(),
    ...options,
    plugins: {
      trustProxy: { trustedProxies: ['loopback'] },
      methodOverride: true,
      requestContext: { n: (req) => req.query.n },
      helmet: true,
      timeout: { ms: 100 },
      rateLimit: { limit: 1_000 },
      compression: true,
      upload: true,
    },
  })
  /** @returns {any} */
  const context = () => currentContext()

  server.get('/who', ({ ip, url, protocol }) => ({ ip, url, protocol }))
  server.delete('/who', (req) => ({ method: req.method, body: req.body }))
  server.get('/context', { timeout: false }, async (req) => {
    await wait(Math.random() * 20)
    const timer = await new Promise((resolve) => setTimeout(() => resolve(context().n), 1))
    const all = await Promise.all([1, 2].map(async () => context().n))
    return [/** @type {any} */ (req.context).n, timer, ...all, context().n]
  })
  server.get('/context-stream', (_req, res) =>
    res.type('text').stream(
      (async function* () {
        for (let i = 0; i < 3; i++) {
          await wait(1)
          yield `${context().n};`
        }
      })(),
    ),
  )
  server.post('/upload', (req) => {
    const file = req.file('file')
    return { body: req.body, name: file?.filename, size: file?.size }
  })
  server.get('/inject', { timeout: false }, async () => {
    const formData = { title: 'a title', file: new File(['some text'], 'a.txt') }
    return (await server.inject.post('/upload', { formData })).body()
  })
  server.get('/never', () => new Promise(() => {}))
  server.get('/late', async (req, res) => {
    await wait(200)
    events.push(`late ${req.signal.aborted} ${req.signal.reason?.code}`)
    return res.ok('late')
  })
  server.get('/limited', { rateLimit: { limit: 5, windowMs: 60_000 } }, () => 'ok')
  server.get('/text', (_req, res) => res.setHeader('etag', '"1"').text(long))
  server.get('/json', () => ({ long }))
  server.get('/bytes', (_req, res) => res.type('text').bytes(Buffer.from(long)))
  server.get('/readable', (_req, res) => res.type('text').stream(Readable.from([long, long])))
  server.get('/web-stream', (_req, res) => res.type('text').stream(/** @type {any} */ (new Response(long + long).body)))
  // On a busy machine, opening a file may take longer than the time limit.
  server.get('/file', { timeout: false }, (_req, res) => res.type('text').file(import.meta.filename))
  let seen = () => {}
  server.get('/seen', () => seen())
  server.get('/slow', { timeout: false }, (_req, res) =>
    res.type('text').stream(
      (async function* () {
        const isSeen = new Promise((resolve) => {
          seen = () => resolve('two ')
        })
        yield 'one '
        yield await Promise.race([isSeen, wait(20_000).then(() => 'late ')])
        yield 'three '
      })(),
    ),
  )
  server.get('/endless', (_req, res) =>
    res.type('text').stream(
      (async function* () {
        try {
          for (;;) {
            yield Array.from({ length: 2_000 }, () => Math.random().toString(36)).join('')
            await wait(1)
          }
        } finally {
          events.push('endless ended')
        }
      })(),
    ),
  )
  server.get('/events', { timeout: false }, () => events)

  const { port } = await server.listen()
  return { port, events, stop: () => server.close() }
}
