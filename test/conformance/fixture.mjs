import { createReadStream } from 'node:fs'

// The application of the conformance suite: plain JavaScript, so that every runtime runs the same file.

const quiet = () => {}

/** @type {any} */
const logger = { debug: quiet, info: quiet, trace: quiet, warn: quiet, error: quiet, fatal: quiet, child: () => logger }

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
const echo = (/** @type {any} */ req) => ({ params: req.params, url: req.url, path: req.path, query: req.query })

/**
 * @param {typeof import('framework').Server} Server
 * @param {object} options
 * @param {string} file A file that `/file` answers with.
 */
export function makeApp(Server, options, file) {
  /** What happened, for assertions from outside. @type {string[]} */
  const events = []
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    logger,
    plugins: { json: { sizeLimit: '100kb' } },
    ...options,
  })

  server.get('/health', () => 'ok')
  server.get('/events', () => events)
  server.get('/', (req) => ({ route: 'root', ...echo(req) }))
  server.get('/hello', () => ({ hello: 'world' }))
  server.get('/users/me', () => ({ route: 'static' }))
  server.get('/users/:id', (req) => ({ route: 'param', ...echo(req) }))
  server.post('/users/:id', (req) => ({ route: 'post', ...echo(req) }))
  server.get('/posts/:id?', (req) => ({ route: 'optional', ...echo(req) }))
  server.get('/files/*', (req) => ({ route: 'wildcard', ...echo(req) }))
  server.get('/a/b', (req) => ({ route: 'a/b', ...echo(req) }))
  server.get('/b', (req) => ({ route: 'b', ...echo(req) }))
  server.get('/x', (req) => ({ route: 'x', ...echo(req) }))
  server.post('/json', (req) => ({ body: req.body ?? null }))
  server.delete('/json', (req) => ({ body: req.body ?? null }))
  server.post('/unread', () => 'early')
  server.post('/read-on/:how/:begins', { json: false }, (req) => {
    const { how, begins } = req.params
    const read = async () => {
      if (begins === 'after') await wait(20)
      if (how === 'bytes') return req.raw.bytes(1_000)
      for await (const _piece of req.raw.stream());
    }
    read().catch(() => events.push(`${how} ${begins} the response has ended`))
    return 'on its way'
  })
  server.get('/headers', (req) => ({ headers: req.headers, ip: req.ip, method: req.method }))
  server.any('/second', () => {
    events.push('second request ran')
    return 'second'
  })
  server.get('/wait', async (req) => {
    await wait(Number(req.query.ms ?? 20))
    return 'waited'
  })
  server.get(
    '/values/:kind',
    (req) =>
      /** @type {Record<string, unknown>} */ ({
        zero: 0,
        empty: '',
        no: false,
        nothing: null,
        text: 'hi',
        object: { a: 1 },
      })[req.params.kind],
  )
  server.get('/bytes', (_req, res) => res.bytes(new Uint8Array([0, 1, 2, 255])))
  server.get('/created', (_req, res) => res.created({ id: 1 }))
  server.get('/reset', (_req, res) => res.status(205).send())
  server.get('/none', (_req, res) => res.noContent())
  server.get('/cookies', (_req, res) => {
    res.header('set-cookie', ['a=1', 'b=2'])
    return res.text('two')
  })
  server.get('/stream', (_req, res) =>
    res.stream(
      (async function* () {
        yield 'one '
        await wait(5)
        yield new TextEncoder().encode('two')
      })(),
    ),
  )
  server.get('/endless', (_req, res) =>
    res.stream(
      (async function* () {
        try {
          for (let i = 0; ; i++) {
            if (i % 100 === 0) events.push(`endless ${i}`)
            yield new Uint8Array(65_536)
          }
        } finally {
          events.push('endless ended')
        }
      })(),
    ),
  )
  server.get('/broken-stream', (_req, res) =>
    res.stream(
      (async function* () {
        yield 'half'
        await wait(20)
        throw new Error('broken on purpose')
      })(),
    ),
  )
  const waits = async (/** @type {any} */ _req, /** @type {any} */ _res, /** @type {any} */ next) => {
    await next()
    await wait(30)
  }
  server.get('/missing-stream', [waits], () => createReadStream(`${file}.missing`))
  server.get('/sse', (_req, res) =>
    res.sse(
      (async function* () {
        yield { data: { n: 1 }, event: 'tick', id: '7' }
        yield 'two\nlines'
      })(),
    ),
  )
  server.get('/file', (_req, res) => res.file(file))
  server.post('/abort', { json: false }, async (req) => {
    if (!req.signal.aborted) await new Promise((resolve) => req.signal.addEventListener('abort', resolve))
    events.push('post aborted')
  })
  server.get('/abort', async (req) => {
    events.push('abort begins')
    await new Promise((resolve) => req.signal.addEventListener('abort', resolve))
    events.push('abort seen')
    return 'no one reads this'
  })
  server.get('/later', (req) => {
    setTimeout(() => events.push(`later ${req.signal.aborted} ${typeof req.ip}`), 30)
    return 'sent'
  })
  server.get('/throw/sync', () => {
    throw new Error('thrown on purpose')
  })
  server.get('/throw/async', async () => {
    await wait(1)
    throw new Error('rejected on purpose')
  })
  server.get('/throw/string', () => {
    throw 'a string on purpose'
  })
  server.get('/throw/frozen', () => {
    throw Object.freeze(new Error('frozen on purpose'))
  })
  server.get('/throw/null', () => {
    throw null
  })
  server.get('/bad-header', (req, res) => {
    const value = { crlf: 'a\r\nx-forged: 1', nul: 'a\0b', wide: 'Ā' }[/** @type {string} */ (req.query.kind)] ?? ''
    res.header('x-user', value)
    return 'sent'
  })
  return { server, events }
}
