import { definePlugin, RouteCollection, Server } from 'framework'
import { cors } from 'framework/plugins'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Options = Parameters<typeof cors>[0]

function serverWith(plugins: object | readonly unknown[]) {
  const server = new Server<{}>({ plugins: plugins as {}, router: new RouteCollection(), logger: memoryLogger() })
  servers.push(server)
  server.get('/data', () => ({ data: 1 }))
  server.post('/data', (req) => req.body)
  server.get('/boom', () => {
    throw new Error('boom')
  })
  return server
}
const makeServer = (options: Options) => serverWith({ cors: options })

const good = 'https://good.test'
const get = (server: Server, origin?: string, path = '/data') => server.inject.get(path, { headers: { origin } })
const preflight = (server: Server, origin?: string, more: Record<string, string> = {}, path = '/data') =>
  server.inject.options(path, { headers: { origin, 'access-control-request-method': 'POST', ...more } })

describe('the origins that may read responses', () => {
  test('none until an origin is given', async () => {
    for (const options of [{}, { origin: undefined }, { origin: false as const }, { origin: [] }]) {
      const server = makeServer(options)
      const res = await get(server, good)
      res.assertStatus(200).assertHeaderNotExists('access-control-allow-origin').assertHeaderNotExists('vary')
      ;(await preflight(server, good)).assertStatus(405)
    }
  })

  test('every origin with *', async () => {
    const server = makeServer({ origin: '*' })
    for (const origin of [good, 'null', undefined]) {
      const res = await get(server, origin)
      res.assertHeader('access-control-allow-origin', '*').assertHeaderNotExists('vary')
      res.assertHeaderNotExists('access-control-allow-credentials')
    }
  })

  const rules: [string, Options, string[], string[]][] = [
    ['one origin', { origin: good }, [good], ['https://other.test']],
    ['a list', { origin: [good, 'http://localhost:5173'] }, [good, 'http://localhost:5173'], ['http://localhost']],
    ['a pattern', { origin: /^https:\/\/[a-z]+\.good\.test$/ }, ['https://a.good.test'], ['https://a.b.good.test']],
    ['both', { origin: [good, /\.local$/] }, [good, 'http://x.local'], ['http://x.local.evil']],
    ['a function', { origin: (origin) => origin.endsWith('.test') }, [good], ['https://a.example']],
    [
      'an async function',
      {
        origin: async (origin) => {
          await pause(2)
          return origin === good
        },
      },
      [good],
      ['https://a.example'],
    ],
    ['an app', { origin: 'capacitor://localhost' }, ['capacitor://localhost'], ['capacitor://localhost2']],
  ]
  describe.each(rules)('%s', (_name, options, allowed, refused) => {
    test('reflects exactly, and varies always', async () => {
      const server = makeServer(options)
      for (const origin of allowed) {
        const res = await get(server, origin)
        res.assertStatus(200).assertHeader('access-control-allow-origin', origin).assertHeader('vary', 'Origin')
      }
      for (const origin of [...refused, undefined]) {
        const res = await get(server, origin)
        res.assertStatus(200).assertHeaderNotExists('access-control-allow-origin').assertHeader('vary', 'Origin')
      }
    })
  })

  const spellings = [
    'null',
    '',
    ' ',
    'good.test',
    '//good.test',
    'http://good.test',
    'https://good.test:443',
    'https://good.test:8443',
    'https://good.test/',
    'https://good.test.',
    'https://Good.test',
    'HTTPS://good.test',
    'https://evil-good.test',
    'https://good.test.evil',
    'https://evil.good.test',
    'https://goodxtest',
    'https://good.test@evil.test',
    'https://user@good.test',
    'https://good.test#',
    'https://good.test?',
    'https://good.test, https://evil.test',
    'https://evil.test, https://good.test',
    'https://good.test https://evil.test',
    'https://good.test\t',
    'https://good%2etest',
    'https://goo\u0000d.test',
    'https://göod.test',
    '*',
    'constructor',
    '__proto__',
    `https://${'a'.repeat(10_000)}.test`,
  ]
  test.each(spellings)('%j is not the one that was named', async (origin) => {
    const server = makeServer({ origin: [good, 'https://api.good.test'], credentials: true })
    for (const res of [await get(server, origin), await preflight(server, origin)]) {
      expect(res.statusCode()).toBeLessThan(300)
      res.assertHeaderNotExists('access-control-allow-origin')
      res.assertHeaderNotExists('access-control-allow-credentials')
      res.assertHeader('vary', /^Origin/)
    }
  })

  test('a value that is not a single origin never reaches a loose pattern or a function', async () => {
    const asked: string[] = []
    const loose = makeServer({ origin: [/good/] })
    const fn = makeServer({
      origin: (origin) => {
        asked.push(origin)
        return true
      },
    })
    for (const origin of [
      `${good}, https://evil.test`,
      `${good} x`,
      'good',
      `${good}/path`,
      'https://good.test\u0080',
    ]) {
      ;(await get(loose, origin)).assertHeaderNotExists('access-control-allow-origin')
      ;(await get(fn, origin)).assertHeaderNotExists('access-control-allow-origin')
    }
    expect(asked).toEqual([])
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['number', 1],
    ['string', 'yes'],
    ['object', {}],
    ['undefined', Promise.resolve()],
    ['string', Promise.resolve('true')],
  ])('a function whose result is not a boolean is a 500 with a line in the log: %s', async (kind, value) => {
    for (const origin of [() => value, (_origin: string, _req: unknown) => value]) {
      const logger = memoryLogger()
      const server = new Server({
        router: new RouteCollection(),
        logger,
        plugins: { cors: { origin: origin as never } },
      })
      server.get('/data', () => 'data')
      ;(await get(server, good)).assertStatus(500).assertHeaderNotExists('access-control-allow-origin')
      const error = logger.entries.find(({ level }) => level === 'error')!.fields.err as Error
      expect(error.message).toMatch(
        `"cors.origin" returned ${kind}. Return true, false, or a promise of one of them: its second argument is the request, not a callback`,
      )
    }
  })

  type Callback = (error: unknown, isAllowed?: boolean) => void
  test.each<[string, (origin: string, callback: Callback) => unknown]>([
    ['at once', (_origin, callback) => callback(null, true)],
    ['from an async function', async (_origin, callback) => callback(null, true)],
    ['later', (_origin, callback) => void setImmediate(() => late(() => callback(null, true)))],
    [
      'later, out of any arguments',
      (...all: unknown[]) => void setImmediate(() => late(() => (all[1] as Callback)(null, true))),
    ],
  ])('the callback form, called %s, is a 500 and never throws', async (when, origin) => {
    const server = makeServer({ origin: origin as never })
    const called = new Promise<unknown>((resolve) => {
      late = (call) => {
        try {
          resolve(call())
        } catch (error) {
          resolve(error)
        }
      }
    })
    ;(await get(server, good)).assertStatus(500).assertHeaderNotExists('access-control-allow-origin')
    if (when.startsWith('later')) expect(await called).toBeUndefined()
  })
  let late = (_call: () => void) => {}

  test('a function with a second argument reads and changes the request', async () => {
    const seen: unknown[] = []
    const server = makeServer({
      origin: (_origin, req) => {
        seen.push(req.path, req.headers.origin, 'method' in req, req.raw.header('origin'), req.signal.aborted)
        Object.assign(req, { tenant: 'a' })
        return true
      },
    })
    server.get('/tenant', (req) => (req as unknown as { tenant: string }).tenant)
    expect((await get(server, good, '/tenant')).body()).toBe('a')
    expect(seen).toEqual(['/tenant', good, true, good, false])
  })

  test('a global or sticky pattern allows each time', async () => {
    const server = makeServer({ origin: [/good/g, /other/y] })
    for (let i = 0; i < 4; i++) (await get(server, good)).assertHeader('access-control-allow-origin', good)
  })

  test('a function is asked once a request and sees it; when it fails, no one is allowed', async () => {
    let asked = 0
    const server = makeServer({
      origin: async (_origin, req) => {
        asked++
        if (req.path === '/data') throw new Error('no response')
        return true
      },
    })
    const failed = await get(server, good)
    failed.assertStatus(500).assertHeaderNotExists('access-control-allow-origin').assertHeader('vary', 'Origin')
    expect(asked).toBe(1)
    ;(await get(server, good, '/missing')).assertStatus(404).assertHeader('access-control-allow-origin', good)
    expect(asked).toBe(2)
  })
})

describe('every response', () => {
  const late = definePlugin({
    name: 'late',
    setup(ctx) {
      ctx.use((req, res, next) => (req.path === '/refused' ? void res.unauthorized() : next()))
    },
  })
  const forms: [string, object | readonly unknown[]][] = [
    ['object form', { cors: { origin: [good], exposedHeaders: ['x-total'] } }],
    ['array form', [cors({ origin: [good], exposedHeaders: ['x-total'] })]],
    ['array form, after others', [late(), cors({ origin: [good], exposedHeaders: ['x-total'] })]],
  ]
  test.each(forms)('%s: errors, 404, 405, bad input', async (_name, plugins) => {
    const server = serverWith(plugins)
    const { inject } = server
    const headers = { origin: good }
    const answers = [
      [200, await inject.get('/data', { headers })],
      [404, await inject.get('/missing', { headers })],
      [405, await inject.put('/data', { headers })],
      [405, await inject.options('/data', { headers })],
      [500, await inject.get('/boom', { headers })],
      [400, await inject.post('/data', { headers, body: '{' })],
      [400, await inject.get('/%zz', { headers })],
      [413, await inject.post('/data', { headers, body: 'x'.repeat(200_000) })],
      [415, await inject.post('/data', { headers: { ...headers, 'content-encoding': 'br' }, body: '{}' })],
    ] as const
    for (const [status, res] of answers) {
      res.assertStatus(status).assertHeader('access-control-allow-origin', good).assertHeader('vary', 'Origin')
    }
    for (const path of ['/data', '/missing', '/boom']) {
      ;(await get(server, 'https://evil.test', path))
        .assertHeaderNotExists('access-control-allow-origin')
        .assertHeader('vary', 'Origin')
    }
    answers[0][1].assertHeader('access-control-expose-headers', 'x-total')
  })

  test('a response that was given before cors had its turn', async () => {
    const server = serverWith([late(), cors({ origin: [good] })])
    const res = await get(server, good, '/refused')
    res.assertStatus(401).assertHeader('access-control-allow-origin', good).assertHeader('vary', 'Origin')
  })

  test('a handler that sets Vary itself keeps Origin in it', async () => {
    const server = makeServer({ origin: [good] })
    server.get('/vary', (_req, res) => void res.setHeader('vary', 'Accept').ok(1))
    for (const origin of [good, 'https://evil.test']) {
      ;(await get(server, origin, '/vary')).assertHeader('vary', 'Accept, Origin')
    }
  })

  test('with credentials', async () => {
    const server = makeServer({ origin: good, credentials: true })
    const res = await get(server, good)
    res.assertHeader('access-control-allow-origin', good).assertHeader('access-control-allow-credentials', 'true')
  })

  test('exposedHeaders as text', async () => {
    const server = makeServer({ origin: '*', exposedHeaders: 'x-a,x-b' })
    ;(await get(server, good)).assertHeader('access-control-expose-headers', 'x-a, x-b')
    ;(await preflight(server, good)).assertHeaderNotExists('access-control-expose-headers')
  })

  test('a nearer cors takes the place of the one around it', async () => {
    const server = makeServer({ origin: good })
    const area = definePlugin({
      name: 'area',
      setup(ctx) {
        ctx.register(cors({ origin: 'https://area.test' }))
        ctx.get('/data', () => 1)
      },
    })
    server.register(area(), { prefix: '/area' })
    ;(await get(server, 'https://area.test', '/area/data')).assertHeader(
      'access-control-allow-origin',
      'https://area.test',
    )
    ;(await get(server, good, '/area/data')).assertHeaderNotExists('access-control-allow-origin')
    ;(await get(server, good)).assertHeader('access-control-allow-origin', good)
  })
})

describe('preflights', () => {
  test('are answered on paths without OPTIONS, also on those that do not exist', async () => {
    const server = makeServer({ origin: good })
    for (const path of ['/data', '/missing']) {
      const res = await preflight(server, good, {}, path)
      res.assertStatus(204).assertHeader('access-control-allow-origin', good)
      res.assertHeader('access-control-allow-methods', 'GET, HEAD, PUT, PATCH, POST, DELETE')
      expect(res.body()).toBeUndefined()
    }
  })

  test('belong to the scope whose route has the requested method, where routes of several have the path', async () => {
    const area = (method: 'get' | 'post', path: string, origin?: string) =>
      definePlugin({
        name: `${method} ${path}`,
        scoped: true,
        setup(ctx) {
          if (origin !== undefined) ctx.register(cors({ origin }))
          ctx[method](path, () => 1)
        },
      })()
    const [a, b] = ['https://a.test', 'https://b.test']
    const server = serverWith([
      area('get', '/two', a),
      area('post', '/two', b),
      area('get', '/x'),
      area('post', '/x', b),
    ])
    const allowed = async (path: string, method: string, origin: string) => {
      const res = await preflight(server, origin, { 'access-control-request-method': method }, path)
      return res.headers()['access-control-allow-origin']
    }
    for (const origin of [a, b]) {
      const [ofA, ofB] = [origin === a ? a : undefined, origin === b ? b : undefined]
      expect(await allowed('/two', 'GET', origin)).toBe(ofA)
      expect(await allowed('/two', 'POST', origin)).toBe(ofB)
      // No route has it: as any other method of the path.
      for (const other of ['PUT', 'HEAD', 'POST, GET']) expect(await allowed('/two', other, origin)).toBe(ofA)
      expect(await allowed('/x', 'POST', origin)).toBe(ofB)
      expect(await allowed('/x', 'GET', origin)).toBeUndefined()
    }
  })

  test('reflect the requested headers, unless they are named', async () => {
    const asked = { 'access-control-request-headers': 'x-a, Content-Type' }
    const reflecting = await preflight(makeServer({ origin: good }), good, asked)
    reflecting.assertHeader('access-control-allow-headers', 'x-a, Content-Type')
    reflecting.assertHeader('vary', 'Origin, Access-Control-Request-Headers')
    const named = await preflight(makeServer({ origin: good, allowedHeaders: ['X-B', 'x-c'] }), good, asked)
    named.assertHeader('access-control-allow-headers', 'X-B, x-c').assertHeader('vary', 'Origin')
    const none = await preflight(makeServer({ origin: good }), good)
    none.assertHeaderNotExists('access-control-allow-headers')
    const any = await preflight(makeServer({ origin: '*' }), good, asked)
    any.assertHeader('vary', 'Access-Control-Request-Headers')
  })

  test.each(['x-a\u0080', 'x:a', '"x"', 'a\u0000b', '<script>', 'é'])('do not reflect %j', async (asked) => {
    const res = await preflight(makeServer({ origin: good }), good, { 'access-control-request-headers': asked })
    res.assertStatus(204).assertHeaderNotExists('access-control-allow-headers')
  })

  test('show other origins nothing', async () => {
    const server = makeServer({ origin: good, credentials: true, maxAge: 5, allowedHeaders: 'x-a' })
    for (const origin of ['https://evil.test', undefined]) {
      const res = await preflight(server, origin)
      res.assertStatus(204).assertHeader('vary', 'Origin')
      expect(Object.keys(res.headers()).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  test('methods, maxAge, optionsSuccessStatus and credentials', async () => {
    const server = makeServer({
      origin: [good],
      methods: ['get', 'PATCH'],
      maxAge: 600,
      optionsSuccessStatus: 200,
      credentials: true,
    })
    const res = await preflight(server, good)
    res.assertStatus(200).assertHeader('content-length', '0')
    res.assertHeader('access-control-allow-methods', 'GET, PATCH').assertHeader('access-control-max-age', 600)
    res.assertHeader('access-control-allow-credentials', 'true')
    const text = makeServer({ origin: [good], methods: 'GET,DELETE', maxAge: 0 })
    const second = await preflight(text, good)
    second.assertHeader('access-control-allow-methods', 'GET, DELETE').assertHeader('access-control-max-age', '0')
  })

  test('an OPTIONS without a requested method is an ordinary request', async () => {
    const server = makeServer({ origin: good })
    server.options('/own', () => 'mine')
    const own = await server.inject.options('/own', { headers: { origin: good } })
    own.assertStatus(200).assertBodyDeepEqual('mine').assertHeader('access-control-allow-origin', good)
    ;(await preflight(server, good, {}, '/own')).assertStatus(204)
    const other = await server.inject.post('/data', {
      headers: { origin: good, 'access-control-request-method': 'GET' },
    })
    other.assertStatus(200)
  })

  test('preflightContinue passes them on with their headers', async () => {
    const server = makeServer({ origin: good, preflightContinue: true })
    server.options('/own', () => 'mine')
    const own = await preflight(server, good, {}, '/own')
    own.assertStatus(200).assertBodyDeepEqual('mine').assertHeaderExists('access-control-allow-methods')
    ;(await preflight(server, good)).assertStatus(405).assertHeader('access-control-allow-origin', good)
  })

  test('with an async function', async () => {
    const server = makeServer({ origin: async (origin) => origin === good })
    ;(await preflight(server, good)).assertStatus(204).assertHeader('access-control-allow-origin', good)
    ;(await preflight(server, 'https://evil.test'))
      .assertStatus(204)
      .assertHeaderNotExists('access-control-allow-origin')
  })
})

describe('invalid options are refused at once', () => {
  const bad: [object, RegExp][] = [
    [{ origin: '*', credentials: true }, /cors\.credentials.*named origin/],
    [{ origin: true }, /cors\.origin.*takes '\*', an origin/],
    [{ origin: 5 }, /cors\.origin/],
    [{ origin: [good, '*'] }, /cors\.origin.*on its own/],
    [{ origin: [good, 5] }, /cors\.origin/],
    [{ origin: 'good.test' }, /cors\.origin.*"good\.test"/],
    [{ origin: 'https://good.test/' }, /cors\.origin.*Browsers send that one as 'https:\/\/good\.test'/],
    [{ origin: 'https://good.test/path' }, /cors\.origin/],
    [{ origin: 'https://Good.test' }, /cors\.origin.*'https:\/\/good\.test'/],
    [{ origin: 'https://good.test:443' }, /cors\.origin.*'https:\/\/good\.test'/],
    [{ origin: 'null' }, /cors\.origin/],
    [{ origin: '' }, /cors\.origin/],
    [{ methods: 'GET;POST' }, /cors\.methods/],
    [{ methods: 5 }, /cors\.methods/],
    [{ allowedHeaders: ['a b'] }, /cors\.allowedHeaders/],
    [{ exposedHeaders: ['a\r\nb'] }, /cors\.exposedHeaders/],
    [{ maxAge: '1h' }, /cors\.maxAge.*seconds/],
    [{ maxAge: -1 }, /cors\.maxAge/],
    [{ optionsSuccessStatus: 404 }, /cors\.optionsSuccessStatus/],
    [{ credentials: 'yes' }, /cors\.credentials/],
    [{ preflightContinue: 1 }, /cors\.preflightContinue/],
    [{ orgin: '*' }, /cors\.orgin.*Did you mean "origin"/],
  ]
  test.each(bad)('%j', (options, message) => {
    expect(() => serverWith({ cors: options })).toThrow(message)
  })
})
