import { EventEmitter } from 'node:events'
import { request as httpRequest } from 'node:http'
import { Writable } from 'node:stream'
import { definePlugin, RouteCollection, Server } from 'framework'
import { log } from 'framework/plugins'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

type Options = NonNullable<Parameters<typeof log>[0]>
type Line = Record<string, unknown> & { level: number; msg: string }

/** Collects lines, and checks that each is one entry. */
function collector() {
  const written: string[] = []
  return {
    written,
    write(line: string) {
      written.push(line)
    },
    get lines(): Line[] {
      return written.map((line) => {
        expect(line.endsWith('\n') && !line.slice(0, -1).includes('\n')).toBe(true)
        return JSON.parse(line) as Line
      })
    },
  }
}

function makeServer(options: Options = {}, more: object = {}) {
  const out = collector()
  const plugins = { log: { stream: out, ...options } }
  const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), ...more })
  servers.push(server)
  return { server, out }
}

describe('the id of a request goes back', () => {
  const idOf = (res: { headers(): Readonly<Record<string, unknown>> }) => res.headers()['x-request-id']

  test('with responses, misses, refusals and failures, also of an error handler', async () => {
    const { server, out } = makeServer()
    const { server: guarded } = makeServer()
    server.get('/', (req) => ({ id: req.id }))
    const boom = () => {
      throw new Error('boom')
    }
    server.get('/boom', boom)
    guarded.get('/boom', boom)
    guarded.setErrorHandler(boom)
    const found = await server.inject.get('/')
    expect(idOf(found)).toBe(found.body<{ id: string }>().id)
    const paths = ['/nowhere', '/boom', '/%zz']
    const answers = [
      ...(await Promise.all(paths.map((path) => server.inject.get(path)))),
      await guarded.inject.get('/boom'),
    ]
    for (const res of answers) expect(idOf(res)).toMatch(/^\w+-\w+$/)
    expect(new Set(answers.map(idOf)).size).toBe(4)
    expect(out.lines.map(({ reqId }) => reqId)).toContain(idOf(found))
  })

  test('as the client sent it, where that is trusted', async () => {
    const ask = async (trustRequestId: boolean) => {
      const { server } = makeServer({}, { trustRequestId })
      return idOf(await server.inject.get('/', { headers: { 'x-request-id': 'from-client' } }))
    }
    expect(await ask(true)).toBe('from-client')
    expect(await ask(false)).not.toBe('from-client')
  })

  test('unless the handler names another one, an upstream’s', async () => {
    const { server } = makeServer()
    server.get('/', (_req, res) => res.setHeader('x-request-id', 'upstream').ok())
    expect(idOf(await server.inject.get('/'))).toBe('upstream')
  })

  test('a new one for responses of the cache', async () => {
    const cached = new Server({
      plugins: { log: { stream: { write() {} } }, cache: true },
      router: new RouteCollection(),
    })
    servers.push(cached)
    cached.get('/', { cache: { ttl: 60 } }, () => ({ a: 1 }))
    const ids = [idOf(await cached.inject.get('/')), idOf(await cached.inject.get('/'))]
    expect(new Set(ids).size).toBe(2)
  })
})

describe('the line of a request', () => {
  test('has method, path, the pattern of the route, status, milliseconds and the id', async () => {
    const { server, out } = makeServer()
    server.get('/users/:id', (req, res) => res.created({ id: req.id }))
    const res = await server.inject.get('/users/5?secret=1')
    expect(out.lines).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: process.pid,
        hostname: expect.any(String),
        reqId: res.body<{ id: string }>().id,
        method: 'GET',
        path: '/users/5',
        route: '/users/:id',
        status: 201,
        ms: expect.any(Number),
        msg: 'request',
      },
    ])
    expect(out.written.join()).not.toContain('secret')
  })

  test('has no route where none answered', async () => {
    const { server, out } = makeServer()
    await server.inject.get('/nowhere')
    expect(out.lines[0]).not.toHaveProperty('route')
  })

  test('also for 404, 405, refused bodies and failures; those above 499 as warnings', async () => {
    const { server, out } = makeServer()
    server.post('/a', () => {
      throw new Error('boom')
    })
    await server.inject.get('/none')
    await server.inject.get('/a')
    await server.inject.post('/a', { body: '{' })
    await server.inject.post('/a')
    const answered = out.lines.filter((line) => 'status' in line)
    expect(answered.map(({ status, level }) => [status, level])).toEqual([
      [404, 30],
      [405, 30],
      [400, 30],
      [500, 40],
    ])
  })

  test('in array form', async () => {
    const out = collector()
    const server = new Server({ plugins: [log({ stream: out })], router: new RouteCollection() })
    servers.push(server)
    await server.inject.get('/none')
    expect(out.lines).toMatchObject([{ status: 404 }])
  })

  test('not with logResponse: false, nor for a route that says so', async () => {
    const silent = makeServer({ logResponse: false })
    await silent.server.inject.get('/none')
    expect(silent.out.lines).toEqual([])
    const { server, out } = makeServer()
    server.get('/quiet', { log: false }, () => 1)
    server.get('/loud', { log: true }, () => 1)
    for (const path of ['/quiet', '/loud']) await server.inject.get(path)
    await server.inject.head('/quiet')
    await server.inject.post('/quiet')
    expect(out.lines.map((line) => [line.method, line.path])).toEqual([
      ['GET', '/loud'],
      ['POST', '/quiet'],
    ])
  })

  test('not for a HEAD route of its own that says so', async () => {
    const { server, out } = makeServer()
    server.head('/quiet', { log: false }, (_req, res) => res.noContent())
    await server.inject.head('/quiet')
    expect(out.lines).toEqual([])
  })

  test.each([true, false])('the route option is checked, with logResponse: %s', async (logResponse) => {
    const { server } = makeServer({ logResponse })
    server.get('/a', { log: 'false' as never }, () => 1)
    await expect(server.ready()).rejects.toMatchObject({
      code: 'RouteOptionError',
      message: expect.stringContaining('the option "log" is "false"; it takes true or false'),
    })
  })

  test('a failure of a quiet route is logged nevertheless', async () => {
    const { server, out } = makeServer()
    server.get('/quiet', { log: false }, () => {
      throw new Error('boom')
    })
    await server.inject.get('/quiet')
    expect(out.lines).toMatchObject([{ level: 50, err: { message: 'boom' } }])
  })
})

describe('the logger of the server', () => {
  test('is pino, for req.log, ctx.log, server.logger and the kernel', async () => {
    const { server, out } = makeServer({ logResponse: false, level: 'debug' })
    server.register(definePlugin({ name: 'p', setup: (ctx) => ctx.log.debug('from setup') })())
    server.get('/a', (req) => {
      req.log.warn({ a: 1 }, 'from a request')
      throw new TypeError('boom', { cause: new Error('why') })
    })
    await server.inject.get('/a')
    server.logger.info('from outside')
    const [setup, request, failure, outside] = out.lines
    expect(setup).toMatchObject({ level: 20, plugin: 'p', msg: 'from setup' })
    expect(request).toMatchObject({ level: 40, a: 1, reqId: expect.any(String), msg: 'from a request' })
    expect(failure).toMatchObject({ level: 50, reqId: request!.reqId, err: { type: 'TypeError', message: /boom/ } })
    expect(failure!.err).toMatchObject({ stack: expect.stringContaining('why') })
    expect(outside).toMatchObject({ level: 30, msg: 'from outside' })
  })

  test('level', async () => {
    const { server, out } = makeServer({ level: 'warn' })
    await server.inject.get('/none')
    server.logger.error('e')
    expect(out.lines.map((line) => line.msg)).toEqual(['e'])
  })

  test('LOG_LEVEL of the environment is the default level', async () => {
    vi.stubEnv('LOG_LEVEL', 'error')
    const { server, out } = makeServer()
    await server.inject.get('/none')
    expect(out.lines).toEqual([])
    const named = makeServer({ level: 'info' })
    await named.server.inject.get('/none')
    expect(named.out.lines).toHaveLength(1)
    vi.stubEnv('LOG_LEVEL', 'loud')
    expect(() => makeServer()).toThrow(/^the option "LOG_LEVEL of the environment" is "loud"; .*"trace", "debug"/)
  })

  test('a logger that was given is written to, and keeps its own options', async () => {
    const logger = memoryLogger()
    const server = new Server({ plugins: { log: true }, logger, router: new RouteCollection() })
    servers.push(server)
    await server.inject.get('/none')
    expect(logger.entries).toMatchObject([{ level: 'info', fields: { status: 404 }, message: 'request' }])
    expect(server.logger).toBe(logger)
    const both = new Server({ plugins: { log: { level: 'debug' } }, logger, router: new RouteCollection() })
    servers.push(both)
    await expect(both.ready()).rejects.toThrow(/log\.level.*"logger"/)
  })

  test('a nearer log writes the lines of its scope', async () => {
    const { server, out } = makeServer()
    const near = collector()
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.register(log({ stream: near }))
        ctx.get('/a', () => 1)
      },
    })
    server.register(area(), { prefix: '/area' })
    await server.inject.get('/area/a')
    await server.inject.get('/none')
    expect([near.lines.map((line) => line.path), out.lines.map((line) => line.path)]).toEqual([['/area/a'], ['/none']])
    server.logger.info('root')
    expect(out.lines.at(-1)).toMatchObject({ msg: 'root' })
  })
})

describe('secrets', () => {
  const logged = async (entry: object, options: Options = {}): Promise<Line> => {
    const { server, out } = makeServer({ logResponse: false, ...options })
    await server.ready()
    server.logger.info(entry, 'entry')
    return out.lines[0]!
  }

  test('are redacted by name, at any depth, in errors and in children too', async () => {
    const headers = {
      authorization: 'Bearer s3cret',
      cookie: 'sid=s3cret',
      'set-cookie': ['sid=s3cret'],
      'x-ok': 'fine',
    }
    const body = {
      password: 's3cret',
      newPassword: 's3cret',
      user: { access_token: 's3cret', list: [{ clientSecret: 's3cret' }] },
    }
    const line = await logged({ headers, req2: { headers }, body, apiKey: 's3cret', 'X-Api-Key': 's3cret', n: 1 })
    expect(JSON.stringify(line)).not.toContain('s3cret')
    expect(line).toMatchObject({
      headers: { authorization: '[redacted]', cookie: '[redacted]', 'set-cookie': '[redacted]', 'x-ok': 'fine' },
      body: { password: '[redacted]', user: { access_token: '[redacted]', list: [{ clientSecret: '[redacted]' }] } },
      n: 1,
    })
    const { server, out } = makeServer({ logResponse: false })
    await server.ready()
    server.logger.child({ token: 's3cret' }).info({ err: Object.assign(new Error('x'), { config: { headers } }) }, 'e')
    class Account {
      password = 's3cret'
      name = 'ada'
    }
    server.logger.info({ account: new Account() }, 'class')
    expect(out.written.join()).not.toContain('s3cret')
    expect(out.lines[1]).toMatchObject({ account: { name: 'ada', password: '[redacted]' } })
  })

  class Document {
    readonly #data: unknown
    constructor(data: unknown) {
      this.#data = data
    }
    toJSON() {
      return this.#data
    }
  }
  const user = { name: 'ada', password: 's3cret' }
  const config = { url: 'https://pay.test', headers: { authorization: 's3cret' } }
  let deep: object = { password: 's3cret' }
  for (let level = 0; level < 40; level++) deep = { in: deep, n: level }

  const cycle: Record<string, unknown> = { deep }
  cycle.self = cycle

  test.each<[what: string, entry: object, shown: object]>([
    ['a document', { user: new Document(user) }, { user: { name: 'ada', password: '[redacted]' } }],
    ['a list of them', { users: [new Document(user)] }, { users: [{ name: 'ada', password: '[redacted]' }] }],
    ['one whose data is one', { user: new Document(Object.assign(new Document(1), user)) }, { user: { name: 'ada' } }],
    ['one as the entry', Object.assign(new Document(1), user), { name: 'ada', password: '[redacted]' }],
    [
      'one in an error',
      { err: Object.assign(new Error('x'), { user: new Document(user) }) },
      { err: { message: 'x' } },
    ],
    ['an error', { reason: Object.assign(new Error('x'), { config }) }, { reason: { config: { url: config.url } } }],
    ['a list of errors', { list: [Object.assign(new Error('x'), { config })] }, { list: [{ config: {} }] }],
    ['forty levels', { deep }, { deep: { in: { n: 38 } } }],
    ['a long list', { list: Array.from({ length: 150 }, () => user) }, { list: { 149: { name: 'ada' } } }],
    ['a cycle', { cycle }, { cycle: { self: '[Circular]', deep: { in: { n: 38 } } } }],
    ['bytes and dates', { at: new Date(0), bytes: Buffer.from('a') }, { at: '1970-01-01T00:00:00.000Z' }],
  ])('are redacted in what JSON writes: %s', async (_, entry, shown) => {
    const line = await logged(entry)
    expect(line).toMatchObject(shown)
    expect(JSON.stringify(line)).not.toContain('s3cret')
  })

  test('are redacted in errors that choose what is written of them, with their type, message and stack', async () => {
    function RequestError(this: Error & { config: object }, message: string) {
      Object.assign(this, { message, name: 'RequestError', config })
      Error.captureStackTrace(this)
    }
    // As in axios: enumerable, and inherited.
    RequestError.prototype = Object.assign(Object.create(Error.prototype), {
      constructor: RequestError,
      toJSON(this: { config: object }) {
        return { config: this.config, message: 'chosen' }
      },
    })
    const failed = () => Reflect.construct(RequestError, ['timeout']) as Error
    const shown = {
      type: 'RequestError',
      message: 'timeout',
      stack: expect.stringContaining('log.test'),
      config: { url: config.url, headers: { authorization: '[redacted]' } },
    }
    const { server, out } = makeServer()
    server.get('/one', () => {
      throw failed()
    })
    server.get('/all', () => {
      throw new AggregateError([failed()], 'all')
    })
    await server.inject.get('/one')
    await server.inject.get('/all')
    const [one, all] = out.lines.filter(({ level }) => level === 50)
    expect(one!.err).toEqual(shown)
    const { config: chosen } = shown
    expect(all!.err).toMatchObject({ type: 'AggregateError', message: 'all', aggregateErrors: [{ config: chosen }] })
  })

  test('are not in what is written of a stream: the head of a request, as a string', async () => {
    const request = httpRequest({ host: '127.0.0.1', port: 1, headers: { authorization: 's3cret' } }).on(
      'error',
      () => {},
    )
    request.end()
    // While it connects, the head waits in a list of chunks.
    expect(request).toMatchObject({ _header: expect.stringContaining('s3cret') })
    const line = await logged({ err: Object.assign(new Error('x'), { request, list: [request.socket] }), request })
    expect(line).toMatchObject({ err: { message: 'x', request: '[stream]' }, request: '[stream]' })
    expect(JSON.stringify(line)).not.toContain('s3cret')
    request.destroy()
  })

  test('names that only resemble them, and absent ones, stay', async () => {
    const entry = { tokens: 5, passwordless: true, secretary: 'x', cookieCount: 1, token: null }
    expect(await logged(entry)).toMatchObject(entry)
  })

  test('the entry itself is not touched, and a cycle is not a failure', async () => {
    const entry: Record<string, unknown> = { password: 'x', deep: { token: 'y' } }
    entry.self = entry
    await logged(entry)
    expect(entry).toMatchObject({ password: 'x', deep: { token: 'y' } })
  })

  test('paths can be added', async () => {
    const entry = { user: { email: 'a@b.test', name: 'Ada' }, list: [{ pin: 1 }], password: 'x' }
    expect(await logged(entry, { redact: ['user.email', 'list[*].pin'] })).toMatchObject({
      user: { email: '[redacted]', name: 'Ada' },
      list: [{ pin: '[redacted]' }],
      password: '[redacted]',
    })
  })

  test('a whole request in an entry is its id, method and path', async () => {
    const { server, out } = makeServer({ logResponse: false })
    server.get('/a', (req, res) => {
      req.log.info({ req, res }, 'whole')
      return 1
    })
    await server.inject.get('/a', { headers: { authorization: 's3cret' } })
    const [line] = out.lines
    expect(line).toMatchObject({ req: { id: line!.reqId, method: 'GET', path: '/a' }, res: { status: 200 } })
    expect(out.written[0]!.length).toBeLessThan(400)
  })
})

describe('hostile input', () => {
  test('no value forges an entry, a line or a terminal command', async () => {
    const { server, out } = makeServer()
    server.get('/*', (req) => {
      req.log.info({ agent: req.headers['user-agent'], [req.headers['x-key']!]: 1 }, req.headers['user-agent']!)
      return 1
    })
    const nasty = 'a\r\n{"level":60,"msg":"forged"}\n\u001b[31m\u009b2J\u007f\u2028\u2029\u0000","msg":"x'
    await server.inject.get('/%0a%1b%22', { headers: { 'user-agent': nasty, 'x-key': nasty } })
    expect(out.written).toHaveLength(2)
    expect(out.lines[0]).toMatchObject({ level: 30, msg: nasty, agent: nasty, [nasty]: 1 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(out.written.join('').replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })

  test('a header of a megabyte is a short line', async () => {
    const { server, out } = makeServer()
    server.get('/*', (req) => {
      req.log.info({ headers: req.headers }, req.headers['x-big']!)
      req.log.info({ many: Array.from({ length: 90 }, () => 'y'.repeat(1_000)) }, 'many')
      throw new Error(req.headers['x-big'])
    })
    await server.inject.get(`/${'p'.repeat(100_000)}`, { headers: { 'x-big': 'x'.repeat(1_000_000) } })
    expect(out.written).toHaveLength(4)
    for (const line of out.written) expect(line.length).toBeLessThan(33_000)
    expect(out.lines[0]).toMatchObject({ level: 30, reqId: expect.any(String) })
    expect(out.lines[0]!.msg).toMatch(/^x+… \(1000000 characters\)$/)
    expect(out.lines[1]).toMatchObject({ msg: 'many', cut: expect.stringContaining('was cut') })
    expect(out.lines[2]).toMatchObject({ level: 50, err: { message: expect.stringContaining('characters)') } })
  })
})

describe('a sink that fails', () => {
  test('throws, emits errors, or is ended', async () => {
    const ended = new Writable({ write: (_chunk, _encoding, done) => done() })
    ended.end()
    const failing = new Writable({ write: (_chunk, _encoding, done) => done(new Error('disk full')) })
    const throwing = {
      write() {
        throw new Error('no')
      },
    }
    for (const stream of [ended, failing, throwing]) {
      const { server } = makeServer({ stream })
      for (let i = 0; i < 5; i++) (await server.inject.get('/none')).assertStatus(404)
      await pause(5)
      ;(await server.inject.get('/none')).assertStatus(404)
      await server.close()
    }
  })

  test('takes nothing: entries are dropped and counted, memory is bounded, closing does not wait for ever', async () => {
    let waiting: (() => void) | undefined
    const taken: string[] = []
    const blocked = new Writable({
      write(chunk, _encoding, done) {
        taken.push(String(chunk))
        waiting = done
      },
    })
    const { server } = makeServer({ stream: blocked, logResponse: false })
    await server.ready()
    for (let i = 0; i < 1_000; i++) server.logger.info({ filler: 'x'.repeat(30_000) }, `entry ${i}`)
    expect(blocked.writableLength).toBeLessThan(17 * 1024 * 1024)
    const start = performance.now()
    await server.close()
    expect(performance.now() - start).toBeLessThan(20_000)
    while (blocked.writableLength > 0) {
      waiting?.()
      await pause(0)
    }
    server.logger.info('again')
    waiting?.()
    await pause(5)
    waiting?.()
    expect(taken.at(-2)).toMatch(/"dropped":\d+/)
    expect(taken.at(-1)).toContain('again')
  })

  test('close waits for unwritten lines', async () => {
    const taken: string[] = []
    const slow = new Writable({
      write(chunk, _encoding, done) {
        setTimeout(() => {
          taken.push(String(chunk))
          done()
        }, 10)
      },
    })
    const { server } = makeServer({ stream: slow })
    for (let i = 0; i < 5; i++) await server.inject.get('/none')
    await server.close()
    expect(taken).toHaveLength(5)
  })

  test('servers that share one stream leave one listener', async () => {
    const stream = Object.assign(new EventEmitter(), { write: () => {} })
    for (let i = 0; i < 20; i++) {
      const { server } = makeServer({ stream })
      await server.ready()
    }
    expect(stream.listenerCount('error')).toBe(1)
  })
})

describe('invalid options', () => {
  test.each([
    [{ level: 'loud' }, /plugins\.log\.level.*"trace", "debug"/],
    [{ logResponse: 'yes' }, /log\.logResponse/],
    [{ redact: 'password' }, /log\.redact.*list of paths/],
    [{ redact: ['a..b['] }, /log\.redact" is \[a\.\.b\[\]; it takes paths in the syntax of pino: /],
    [{ redact: ['a', ''] }, /log\.redact\[1\]" is "";/],
    [{ level: 5, stream: 'out' }, /2 options are wrong:\n.*log\.level" is 5.*\n.*log\.stream/],
    [{ stream: {} }, /log\.stream.*write/],
    [{ logresponse: true }, /Did you mean "logResponse"/],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => makeServer(options as Options)).toThrow(message)
  })
})

describe('an entry that throws when it is read', () => {
  const thrower = () => {
    throw new Error('not now')
  }
  const unread = (what: object) => Object.defineProperty(what, 'x', { get: thrower, enumerable: true })
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  test.each<[what: string, entry: object, shown: object]>([
    ['a getter', unread({ password: 's3cret', n: 1 }), { x: '[unreadable]', password: '[redacted]', n: 1 }],
    ['one beside an error', unread({ err: new TypeError('a') }), { x: '[unreadable]', err: { message: 'a' } }],
    ['one within', { in: unread({ token: 's3cret' }) }, { in: { x: '[unreadable]', token: '[redacted]' } }],
    ['one in a list', { list: [unread({}), 1] }, { list: [{ x: '[unreadable]' }, 1] }],
    ['a toJSON', { in: { toJSON: thrower }, n: 1 }, { in: '[unreadable]', n: 1 }],
    ['a proxy', { in: new Proxy({}, { ownKeys: thrower }), n: 1 }, { in: '[unreadable]', n: 1 }],
    ['a revoked proxy', { in: revoked(), n: 1 }, { in: '[unreadable]', n: 1 }],
  ])('is written all the same: %s', async (_, entry, shown) => {
    const { server, out } = makeServer({ logResponse: false })
    await server.ready()
    server.logger.info(entry, 'entry')
    server.logger.child(entry as {}).info('child')
    expect(out.lines).toMatchObject([shown, shown])
    // pino merges the fields of other plugins and the entry.
    const more = collector()
    const traced = new Server({
      plugins: { log: { stream: more, logResponse: false }, telemetry: true },
      router: new RouteCollection(),
    } as {})
    servers.push(traced)
    await traced.ready()
    traced.logger.info(entry, 'entry')
    expect(more.lines.at(-1)).toMatchObject(shown)
  })
})

test('a failure is logged although a member of its error throws when it is read', async () => {
  const { server, out } = makeServer()
  server.get('/', () => {
    throw Object.defineProperty(new Error('the cause'), 'detail', {
      enumerable: true,
      get() {
        throw new Error('not now')
      },
    })
  })
  for (let i = 0; i < 2; i++) await server.inject.get('/')
  const failures = out.lines.filter(({ level }) => level === 50)
  expect(failures.map(({ err }) => (err as Error).message)).toEqual(['the cause', 'the cause'])
})
