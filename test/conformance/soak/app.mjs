import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Server } from 'framework'

/** An application with a bit of everything, for hours of requests. @param {import('framework').ServerOptions} options */
export async function start(options) {
  /** What must not happen. @type {string[]} */
  const events = []
  const folder = mkdtempSync(join(tmpdir(), 'framework-soak-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

  /** @returns {() => void} */
  function collector() {
    const { Bun } = /** @type {{ Bun?: { gc(wait: boolean): void } }} */ (globalThis)
    if (Bun !== undefined) return () => Bun.gc(true)
    setFlagsFromString('--expose-gc')
    return runInNewContext('gc')
  }
  const collect = collector()

  const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    logger,
    // A client that a busy machine holds up would send on a connection that the server is just closing.
    limits: { keepAliveTimeout: 120_000 },
    plugins: {
      cors: { origin: 'http://a.test' },
      helmet: true,
      compression: true,
      requestContext: { started: () => Date.now() },
      rateLimit: { limit: 1_000_000_000 },
      timeout: { ms: 20_000 },
      session: { secret: 'a secret of at least 32 characters', store: { memory: { max: 200 } } },
      upload: { storage: 'disk', folder, maxFileSize: '100kb' },
      cache: { defaultTtl: 1 },
    },
    ...options,
  })

  server.get('/memory', async () => {
    // What finalizers and closed sockets hold is free a turn later.
    for (let i = 0; i < 3; i++) {
      collect()
      await wait(1)
    }
    const { heapUsed, rss, external } = process.memoryUsage()
    return { heap: heapUsed, rss, external, events }
  })
  server.get('/users/:id', (req) => ({ id: req.params.id, query: req.query, agent: req.headers['user-agent'] }))
  server.get('/large', () => Array.from({ length: 200 }, (_, id) => ({ id, name: `name of ${id}` })))
  server.get('/cached/:id', { cache: true }, (req) => ({ id: req.params.id, at: Date.now() }))
  const checked = { type: /** @type {const} */ ('object'), properties: { n: { type: 'integer' } }, required: ['n'] }
  server.post('/checked', { body: checked }, (req) => req.body)
  server.get('/throw', () => {
    throw new Error('on purpose')
  })
  server.get('/reject', async () => {
    await wait(1)
    throw new Error('on purpose')
  })
  server.get('/visits', (req) => {
    const session = /** @type {{ visits?: number }} */ (req.session)
    session.visits = (session.visits ?? 0) + 1
    return session.visits
  })
  server.post('/upload', (req) => req.files.length)
  server.get('/slow', async (req) => {
    await Promise.race([wait(200), new Promise((resolve) => req.signal.addEventListener('abort', resolve))])
    return 'late'
  })
  server.get('/stream', (_req, res) =>
    res.stream(
      (async function* () {
        for (let i = 0; i < 20; i++) {
          yield new Uint8Array(8_192)
          await wait(1)
        }
      })(),
    ),
  )
  server.get('/endless', (_req, res) =>
    res.stream(
      (async function* () {
        for (;;) yield new Uint8Array(65_536)
      })(),
    ),
  )

  const { port } = await server.listen()
  return { port, events, stop: () => server.close() }
}
