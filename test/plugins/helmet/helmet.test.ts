import { createServer } from 'node:http'
import { definePlugin, type Middleware, RouteCollection, Server } from 'framework'
import helmetPackage from 'helmet'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function serverWith(helmet: unknown, more: object = {}) {
  const server = new Server<{}>({
    host: '127.0.0.1',
    port: 0,
    plugins: { helmet, ...more } as {},
    router: new RouteCollection(),
    logger: memoryLogger(),
    gracefulShutdown: false,
  })
  servers.push(server)
  server.get('/a', () => 'a')
  server.post('/json', (req) => req.body)
  server.get('/boom', () => {
    throw new Error('boom')
  })
  return server
}

const upgrade = ';upgrade-insecure-requests'

/** The same as the package sets, except for headers that only a request by https receives. */
async function reference(options: Parameters<typeof helmetPackage>[0]): Promise<Record<string, string>> {
  const headers = await packageHeaders(options)
  const policy = headers['content-security-policy']
  return policy === undefined ? headers : { ...headers, 'content-security-policy': policy.replace(upgrade, '') }
}

/** What the package itself sets with these options, by a server of node. */
async function packageHeaders(options: Parameters<typeof helmetPackage>[0]): Promise<Record<string, string>> {
  const middleware = helmetPackage(options)
  const server = createServer((req, res) => middleware(req, res, () => res.end()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { headers } = await fetch(`http://127.0.0.1:${(server.address() as { port: number }).port}/`)
  await new Promise((resolve) => server.close(resolve))
  return security(Object.fromEntries(headers))
}

const ordinary = [
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'allow',
  'vary',
]
function security(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ordinary.includes(name) && !name.startsWith('access-control')),
  )
}

describe('every response has the headers of the package', () => {
  test.each([
    ['200', 'GET', '/a'],
    ['200 of a HEAD', 'HEAD', '/a'],
    ['404', 'GET', '/nowhere'],
    ['405', 'DELETE', '/a'],
    ['405 of an OPTIONS', 'OPTIONS', '/a'],
    ['500', 'GET', '/boom'],
    ['400 of a malformed target', 'GET', '/%zz'],
  ])('%s', async (_name, method, path) => {
    const expected = await reference({})
    const res = await serverWith(true).inject({ method, url: path })
    expect(security(res.headers)).toEqual(expected)
    expect(Object.keys(expected)).toHaveLength(12)
  })

  test('413, malformed JSON, preflights of cors and a Host that is refused', async () => {
    const expected = await reference({})
    const server = serverWith({}, { cors: { origin: '*' }, json: { sizeLimit: 10 } })
    const requests = [
      { url: '/json', method: 'POST', body: '"0123456789"', headers: { 'content-type': 'application/json' } },
      { url: '/json', method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
      { url: '/a', method: 'OPTIONS', headers: { origin: 'http://a.test', 'access-control-request-method': 'PUT' } },
      { url: '/a', headers: { host: 'a b' } },
    ]
    const statuses: number[] = []
    for (const request of requests) {
      const { status, headers } = await server.inject(request)
      statuses.push(status)
      expect(security(headers)).toEqual(expected)
    }
    expect(statuses).toEqual([413, 400, 204, 400])
  })

  test('responses given before it had its turn, and bare ones when the error handler throws', async () => {
    const expected = await reference({})
    const early = definePlugin({ name: 'early', setup: (ctx) => ctx.use((_req, res) => void res.ok('early')) })
    const { helmet } = await import('framework/plugins')
    const first = new Server({ plugins: [early(), helmet()], router: new RouteCollection(), logger: memoryLogger() })
    servers.push(first)
    expect(security((await first.inject({ url: '/' })).headers)).toEqual(expected)

    const server = serverWith(true)
    server.setErrorHandler(() => {
      throw new Error('again')
    })
    const res = await server.inject({ url: '/boom' })
    expect([res.status, security(res.headers)]).toEqual([500, expected])
  })

  test('over a socket, without X-Powered-By', async () => {
    const server = serverWith(true)
    const { port } = await server.listen()
    const { headers } = await fetch(`http://127.0.0.1:${port}/a`)
    expect(security(Object.fromEntries(headers))).toEqual(await reference({}))
    expect(headers.get('x-powered-by')).toBeNull()
  })
})

describe('options are those of the package', () => {
  test.each([
    [{ contentSecurityPolicy: false }],
    [{ contentSecurityPolicy: { directives: { scriptSrc: ["'self'", 'cdn.test'], 'img-src': null } } }],
    [
      {
        contentSecurityPolicy: {
          reportOnly: true,
          useDefaults: false,
          directives: { defaultSrc: new Set(["'self'"]) },
        },
      },
    ],
    [{ crossOriginEmbedderPolicy: true, crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' } }],
    [
      {
        crossOriginResourcePolicy: false,
        originAgentCluster: false,
        referrerPolicy: { policy: ['origin', 'no-referrer'] },
      },
    ],
    [{ strictTransportSecurity: { maxAge: 60, includeSubDomains: false, preload: true } }],
    [{ hsts: false, noSniff: true, frameguard: { action: 'deny' }, dnsPrefetchControl: { allow: true } }],
    [
      {
        ieNoOpen: false,
        permittedCrossDomainPolicies: { permittedPolicies: 'all' },
        xssFilter: false,
        hidePoweredBy: true,
      },
    ],
  ])('%j', async (options) => {
    const res = await serverWith(options).inject({ url: '/a' })
    expect(security(res.headers)).toEqual(await reference(options as {}))
  })

  test.each([
    [{ contentSecurityPolicy: { directives: { scriptSrc: ['self'] } } }, /should be quoted/],
    [{ contentSecurityPolicy: { directives: { scriptSrc: 5 } } }, /directives|iterable/],
    [{ contentSecurityPolicy: { directive: {} } }, /Did you mean "directives"/],
    [{ contentSecurityPolicy: 'none' }, /helmet\.contentSecurityPolicy/],
    [{ frameguard: { action: 'allow' } }, /X-Frame-Options/],
    [{ hsts: true, strictTransportSecurity: true }, /twice/],
    [{ hsts: { maxAge: -1 } }, /maxAge/],
    [{ noSniff: {} }, /true or false/],
    [{ contentSecurityPolcy: false }, /Did you mean "contentSecurityPolicy"/],
    [[], /object/],
    [
      { hsts: { maxage: 1 }, noSniff: 'yes' },
      /2 options are wrong:\n.*helmet\.hsts\.maxage.*\n.*helmet\.noSniff" is "yes"/,
    ],
    [{ hsts: { maxAge: -1 } }, /^the option "plugins\.helmet" cannot be used: Strict-Transport-Security: -1 is/],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => serverWith(options)).toThrow(message)
  })

  test('an undefined option counts as omitted', async () => {
    const res = await serverWith({ hsts: undefined, strictTransportSecurity: { maxAge: undefined } }).inject({
      url: '/a',
    })
    expect(security(res.headers)).toEqual(await reference({}))
  })

  test('default-src can be left out by the symbol of the package', async () => {
    const { dangerouslyDisableDefaultSrc } = helmetPackage.contentSecurityPolicy
    const options = { contentSecurityPolicy: { directives: { 'default-src': dangerouslyDisableDefaultSrc } } }
    const res = await serverWith(options).inject({ url: '/a' })
    expect(res.headers['content-security-policy']).not.toContain('default-src')
    expect(security(res.headers)).toEqual(await reference(options as {}))
  })
})

describe('upgrade-insecure-requests of the defaults', () => {
  const policyOf = async (server: Server, url: string, headers: Record<string, string> = {}) =>
    (await server.inject({ url, headers })).headers['content-security-policy']

  test('is in the policy of a request that came by https, and of no other', async () => {
    const expected = (await packageHeaders({}))['content-security-policy']!
    expect(expected).toContain(upgrade)
    const server = serverWith(true)
    expect(await policyOf(server, 'https://a.test/a')).toBe(expected)
    expect(await policyOf(server, 'http://a.test/a')).toBe(expected.replace(upgrade, ''))
    expect(await policyOf(server, 'https://a.test/nowhere')).toBe(expected)
    expect(await policyOf(server, 'http://a.test/boom')).toBe(expected.replace(upgrade, ''))
  })

  test('uses the scheme of a trusted proxy, and of no other', async () => {
    const proto = { 'x-forwarded-proto': 'https' }
    const behind = serverWith(true, { trustProxy: { trustedProxies: 1 } })
    expect(await policyOf(behind, '/a', proto)).toContain(upgrade)
    expect(await policyOf(behind, 'https://a.test/a', { 'x-forwarded-proto': 'http' })).not.toContain(upgrade)
    expect(await policyOf(serverWith(true), '/a', proto)).not.toContain(upgrade)
  })

  test('is in every policy of options that name it, and in none of those that leave it out', async () => {
    for (const name of ['upgradeInsecureRequests', 'upgrade-insecure-requests']) {
      const named = serverWith({ contentSecurityPolicy: { directives: { [name]: [] } } })
      const left = serverWith({ contentSecurityPolicy: { directives: { [name]: null } } })
      for (const url of ['http://a.test/a', 'https://a.test/a']) {
        expect(await policyOf(named, url)).toContain(upgrade)
        expect(await policyOf(left, url)).not.toContain(upgrade)
      }
    }
  })

  test('goes the same way with functions, and in the options of a route', async () => {
    const directives = { scriptSrc: new Set(["'self'", () => "'nonce-1'"]).values() }
    const server = serverWith({ contentSecurityPolicy: { directives } })
    server.get('/own', { helmet: { contentSecurityPolicy: { directives: { imgSrc: ['cdn.test'] } } } }, () => 1)
    for (const [path, own] of [
      ['/a', "script-src 'self' 'nonce-1'"],
      ['/own', 'img-src cdn.test'],
    ] as const) {
      expect(await policyOf(server, `http://a.test${path}`)).not.toContain(upgrade)
      expect(await policyOf(server, `http://a.test${path}`)).toContain(own)
      expect(await policyOf(server, `https://a.test${path}`)).toContain(upgrade)
      expect(await policyOf(server, `https://a.test${path}`)).toContain(own)
    }
  })
})

describe('directives that are functions', () => {
  test('are asked for each request, with the request and the response', async () => {
    let count = 0
    const server = serverWith({
      contentSecurityPolicy: {
        directives: {
          scriptSrc: new Set([
            "'self'",
            (req: { path: string }, res: { statusCode: number }) =>
              `'nonce-${++count}-${req.path.slice(1)}-${res.statusCode}'`,
          ]).values(),
        },
      },
    })
    for (const n of [1, 2]) {
      const { headers } = await server.inject({ url: '/a' })
      expect(headers['content-security-policy']).toContain(`script-src 'self' 'nonce-${n}-a-200'`)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  test('that fail or make a malformed source are a failure of the request', async () => {
    for (const source of [() => 'a; script-src *', () => 'nonce-1', () => Promise.resolve("'self'"), () => undefined]) {
      const server = serverWith({ contentSecurityPolicy: { directives: { scriptSrc: [source] } } })
      const res = await server.inject({ url: '/a' })
      expect([res.status, res.headers['content-security-policy']]).toEqual([500, undefined])
      expect(res.headers['x-content-type-options']).toBe('nosniff')
    }
  })
})

describe('a policy with functions as the only header', () => {
  const only = (source: () => string, reportOnly: boolean) => ({
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    strictTransportSecurity: false,
    xContentTypeOptions: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    contentSecurityPolicy: { directives: { scriptSrc: [source] }, reportOnly },
  })

  test.each([false, true])('is on a response given before it had its turn, with reportOnly: %s', async (reportOnly) => {
    let count = 0
    const early: Middleware = (req, res, next) => (req.path === '/early' ? void res.ok('early') : next())
    const { helmet } = await import('framework/plugins')
    const plugins = [early, helmet(only(() => `'nonce-${++count}'`, reportOnly))]
    const server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger() })
    servers.push(server)
    server.get('/late', () => 'late')
    for (const [i, url] of ['/late', '/early', '/none'].entries()) {
      const { headers } = await server.inject({ url })
      const policy = headers[`content-security-policy${reportOnly ? '-report-only' : ''}`]
      expect(policy).toContain(`script-src 'nonce-${i + 1}'`)
    }
  })

  test('that fails is one failure of the request', async () => {
    const server = serverWith(only(() => 'nonce-1', false))
    expect((await server.inject({ url: '/a' })).status).toBe(500)
  })
})

describe('a route of its own', () => {
  test('has other headers, or none, for its GET and HEAD', async () => {
    const server = serverWith({ frameguard: { action: 'deny' } })
    server.get(
      '/docs',
      { helmet: { contentSecurityPolicy: { directives: { scriptSrc: ["'unsafe-inline'"] } } } },
      () => 1,
    )
    server.get('/plain', { helmet: false }, () => 1)
    for (const method of ['GET', 'HEAD']) {
      const docs = await server.inject({ url: '/docs', method })
      expect(docs.headers['content-security-policy']).toContain("script-src 'unsafe-inline'")
      expect(docs.headers['x-frame-options']).toBe('SAMEORIGIN')
      expect(security((await server.inject({ url: '/plain', method })).headers)).toEqual({})
    }
    expect((await server.inject({ url: '/a' })).headers['x-frame-options']).toBe('DENY')
    expect((await server.inject({ url: '/plain', method: 'POST' })).headers['x-frame-options']).toBe('DENY')
  })

  test('with a wrong option fails the boot', async () => {
    const server = serverWith(true)
    server.get('/docs', { helmet: { frameguard: { action: 'x' } } as never }, () => 1)
    await expect(server.ready()).rejects.toThrow(/^GET \/docs .*"helmet" cannot be used: X-Frame-Options/)
  })

  test('a handler may replace and remove single headers', async () => {
    const server = serverWith(true)
    server.get('/own', (_req, res) => res.setHeader('x-frame-options', 'DENY').removeHeader('x-xss-protection').ok())
    const { headers } = await server.inject({ url: '/own' })
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['x-xss-protection']).toBeUndefined()
  })

  test('a scope may have its own', async () => {
    const { helmet } = await import('framework/plugins')
    const server = serverWith(true)
    const part = definePlugin({
      name: 'part',
      scoped: true,
      setup(ctx) {
        ctx.register(helmet({ frameguard: { action: 'deny' } }))
        ctx.get('/part', () => 1)
      },
    })
    server.register(part())
    expect((await server.inject({ url: '/part' })).headers['x-frame-options']).toBe('DENY')
    expect((await server.inject({ url: '/a' })).headers['x-frame-options']).toBe('SAMEORIGIN')
  })
})
