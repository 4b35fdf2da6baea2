import {
  definePlugin,
  implement,
  option,
  RouteCollection,
  type RouteOptions,
  Server,
  type ServerOptions,
} from 'framework'
import { defineContract } from 'framework/contract'
import { describe, expect, test } from 'vitest'
import { type CatalogKey, catalog, core } from '../../plugins/catalog.ts'
import { contractMembers } from '../../plugins/contract/define.ts'
import { memoryLogger } from '../support/kernel.ts'

/** One wrong option of each plugin, its path, and its message. */
const wrong: { readonly [Key in CatalogKey]: readonly [options: object, path: string, remedy: RegExp] } = {
  env: [{ file: 5 }, 'file', /a path, or false/],
  trustProxy: [{ trustedProxies: 'everybody' }, 'trustedProxies', /takes /],
  methodOverride: [{ methods: 5 }, 'methods', /takes /],
  telemetry: [{ incoming: 'trust' }, 'incoming', /"parent" or "link"/],
  log: [{ logResponse: 'no' }, 'logResponse', /true or false/],
  inspector: [{ keep: 501 }, 'keep', /1 to 500/],
  requestContext: [5 as never, '', /takes /],
  helmet: [{ frameguard: { action: 'sometimes' } }, '', /action/i],
  health: [{ timeout: 'soon' }, 'timeout', /milliseconds/],
  cors: [{ maxAge: '1h' }, 'maxAge', /a whole number of seconds/],
  metrics: [{ addresses: ['everyone'] }, 'addresses[0]', /an address, or a range/],
  idempotency: [{ store: 'disk' }, 'store', /"memory" or "database"/],
  overload: [{ maxEventLoopDelay: '1s' }, 'maxEventLoopDelay', /milliseconds above 0, or false/],
  timeout: [{ ms: '5s' }, 'ms', /milliseconds above 0/],
  rateLimit: [{ limit: 0 }, 'limit', /a whole number of requests above 0/],
  cookie: [{ defaults: { maxAge: 'long' } }, 'defaults.maxAge', /takes /],
  session: [{ secret: 'x'.repeat(32), rolling: 'yes' }, 'rolling', /true or false/],
  locks: [{ ttl: 5 }, 'ttl', /whole milliseconds from 1000 to 3600000/],
  storage: [{ default: 5 }, 'default', /takes /],
  mailer: [{ providers: 5 }, 'providers', /takes /],
  json: [{ sizeLimit: 'big' }, 'sizeLimit', /a size like "100kb"/],
  urlencoded: [{ sizeLimit: 'big' }, 'sizeLimit', /a size like "100kb"/],
  upload: [{ maxFiles: -1 }, 'maxFiles', /a whole number, 0 or more/],
  channels: [{ maxChannelsPerClient: 0 }, 'maxChannelsPerClient', /1/],
  tenant: [{ resolve: 'host' }, 'resolve', /a function/],
  webhooks: [{ secret: 'a' }, 'secret', /./],
  websocket: [{ maxMessageSize: 'big' }, 'maxMessageSize', /a size like "100kb"/],
  cache: [{ provider: 'disk' }, 'provider', /"memory" or "redis"/],
  auth: [{ schemes: {} }, 'schemes', /one scheme or more/],
  csrf: [{ origins: ['example.com'] }, 'origins', /an origin such as/],
  database: [{ url: 'redis://localhost' }, 'url', /postgres:\/\/…, mysql:\/\/…, sqlite:file/],
  static: [{ root: '.', dotfiles: 'hide' }, 'dotfiles', /takes /],
  compression: [{ encodings: ['rar'] }, 'encodings[0]', /"br", "zstd", "gzip" or "deflate"/],
  asyncapi: [
    { servers: [{ url: '/api' }] },
    'servers[0].url',
    /an address with a protocol and a host: "wss:\/\/api.example.com"/,
  ],
  openapi: [{ path: 5 }, 'path', /takes /],
  graphql: [{ keepAlive: 0 }, 'keepAlive', /milliseconds above 0/],
  cron: [{ crons: 5 }, 'crons', /takes /],
  queues: [{ run: 'yes' }, 'run', /true or false/],
  mqtt: [{ connect: { port: 'high' } }, 'connect.port', /takes /],
}

function thrownBy(work: () => void): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

describe.each(Object.entries(wrong))('%s', (key, [options, path, remedy]) => {
  const failure = (given: unknown): Error & { code?: string } => {
    const plugins = { [key]: given } as {}
    return thrownBy(() => new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins }))
  }

  test('a wrong option fails at once, with its path and its valid values', () => {
    const { code, message } = failure(options)
    expect(message).toMatch(remedy)
    if (path === '') expect(message).toContain(`plugins.${key}`)
    else {
      expect(code).toBe('OptionError')
      expect(message).toMatch(/^/)
      expect(message).toContain(`"plugins.${key}.${path}`)
    }
  })

  // Its keys are free.
  if (key === 'requestContext') return
  test('an unknown option fails at once, with its path and the known names', () => {
    const { code, message } = failure({ ...options, nonsense: 1 })
    expect(code).toBe('OptionError')
    expect(message).toContain(`Unknown option "plugins.${key}.nonsense"`)
    expect(message).toMatch(/Known options: /)
  })
})

/** Wrong options of routes, with their messages. */
const ofRoutes: [option: string, value: unknown, message: RegExp, plugins?: object][] = [
  ['json', { sizeLimit: 'big' }, /"json\.sizeLimit" is "big"; it takes .* a size like/],
  ['json', { sizelimit: 1 }, /Unknown option "json\.sizelimit"\. Did you mean "sizeLimit"/],
  ['urlencoded', { limit: 1 }, /Unknown option "urlencoded\.limit"/, { urlencoded: true }],
  ['upload', { maxFilez: 1 }, /Unknown option "upload\.maxFilez"\. Did you mean "maxFiles"/, { upload: true }],
  ['rateLimit', { limit: 0 }, /"rateLimit\.limit" is 0; it takes/, { rateLimit: true }],
  ['rateLimit', { store: 'memory' }, /Unknown option "rateLimit\.store"/, { rateLimit: true }],
  ['timeout', '5s', /"timeout" is "5s"; it takes milliseconds above 0, or false/, { timeout: true }],
  ['compress', true, /"compress" is true; it takes false/, { compression: true }],
  ['cache', { tagz: ['a'] }, /Unknown option "cache\.tagz"\. Did you mean "tags"/, { cache: true }],
  ['cache', { ttl: 'long' }, /"cache\.ttl" is "long"; it takes/, { cache: true }],
  ['helmet', { frameguard: 5 }, /helmet/, { helmet: true }],
  ['log', 'no', /"log" is .*; it takes /, { log: true }],
  ['policy', { manger: {} }, /Unknown option "policy\.manger"\. Did you mean "manager"/],
  ['responses', { 20: {} }, /responses/],
  ['body', 5, /"body" is 5; it takes a JSON Schema/],
  ['apidoc', { policy: {} }, /"policy" is in its apidoc/],
  ['apidoc', { summry: 'x' }, /Unknown option "apidoc\.summry"\. Did you mean "summary"/],
  ['apidoc', { summry: 'x' }, /Did you mean "summary"/, { openapi: true }],
  ['apidoc', { externalDocs: { ur: 'x' } }, /Unknown option "apidoc\.externalDocs\.ur"/],
  ['apidoc', { servers: [{ ulr: 'x' }] }, /Unknown option "apidoc\.servers\[0\]\.ulr"\. Did you mean "url"/],
  ['apidoc', { parameters: [{ nmae: 'x' }] }, /"apidoc\.parameters\[0\]\.nmae"\. Did you mean "name"/],
  ['apidoc', { requestBody: { contnet: {} } }, /"apidoc\.requestBody\.contnet"\. Did you mean "content"/],
  ['apidoc', { responses: { 404: { descripton: 'x' } } }, /"apidoc\.responses\.404\.descripton"\. Did you mean "desc/],
  ['apidoc', 'text', /"apidoc" is .*; it takes false, or an object with/],
  ['apidoc', null, /"apidoc" is null; it takes false, or an object with/],
  ['rateLimit', { limit: 1 }, /the plugin "rateLimit", which takes the route option "rateLimit", is not registered/],
  ['polciy', {}, /"polciy"\. Did you mean "policy"/],
]

test.each(
  ofRoutes,
)('the route option %s: %j fails the boot, naming the route with its place', async (option, value, message, plugins = {}) => {
  const logger = memoryLogger()
  await using server = new Server({ router: new RouteCollection(), logger, plugins } as ServerOptions)
  server.post('/door', { [option]: value } as RouteOptions, () => 1)
  const error = await server.ready().then(
    () => undefined,
    (error: Error) => error,
  )
  expect(error?.message).toMatch(message)
  expect(error?.message).toMatch(/^POST \/door \(registered at .*wrong-options\.test\.ts:\d+:\d+\): /)
  expect(error).toMatchObject({ code: 'RouteOptionError' })
})

describe('an option of a route that is undefined, after a wrong import for example, is refused with its route', () => {
  const plugins = [...core, ...Object.values(catalog)].map((one) => one.plugin)
  const names = plugins.flatMap((one) => Reflect.ownKeys(one.routeOptions ?? {}))

  test.each(
    [...new Set([...names, 'middlewares', 'apidoc', 'polciy'])].map((name) => [String(name), name] as const),
  )('%s', (shown, name) => {
    const options = { [name]: undefined } as RouteOptions
    const inherited = Object.create(options) as RouteOptions
    const routes = new RouteCollection()
    const server = new Server({ router: routes, logger: memoryLogger() })
    const handler = () => 1
    const ways: [string, () => void][] = [
      ['POST /a', () => routes.post('/a', options, handler)],
      ['POST /a', () => routes.post('/a', inherited, handler)],
      ['POST /a', () => server.post('/a', options, handler)],
      ['DELETE /a/b', () => routes.group('/a', [() => {}], (group) => group.delete('/b', options, handler))],
      ['GET /a', () => routes.any('/a', options, handler)],
      ['GET /live', () => routes.ws('/live', options, { message() {} })],
      [
        'PUT /a',
        () =>
          implement(routes, defineContract({ one: { method: 'PUT', path: '/a' } }), {
            one: { ...options, handler },
          } as never),
      ],
    ]
    for (const [route, register] of ways) {
      if (name === 'websocket' && route === 'GET /live') continue
      if (route === 'PUT /a' && (contractMembers as readonly PropertyKey[]).includes(name)) continue
      const error = thrownBy(register)
      expect(error).toMatchObject({ code: 'RouteOptionError' })
      expect(error.message).toMatch(/^\w+ \S+ \(registered at .*wrong-options\.test\.ts:\d+:\d+\): the option "/)
      expect(error.message).toContain(`${route} (`)
      expect(error.message).toContain(`the option "${shown}" is undefined. Either the name of an import is misspelt`)
    }
    expect(routes.routes).toEqual([])
  })

  test("an option of a plugin of one's own, through its context", async () => {
    const guard = definePlugin({
      name: 'guard',
      routeOptions: { locked: option.flag() },
      setup: (ctx) => ctx.get('/own', { locked: undefined } as RouteOptions, () => 1),
    })
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
    server.register(guard())
    await expect(server.ready()).rejects.toThrow(/GET \/own .*the option "locked" is undefined/)
  })

  test('a route that is registered after boot', async () => {
    await using server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
    await server.ready()
    expect(() => server.get('/late', { policy: undefined } as RouteOptions, () => 1)).toThrow('"policy" is undefined')
    expect((await server.inject({ url: '/late' })).status).toBe(404)
  })
})

test('every plugin of the catalog is in the table', () => {
  expect(Object.keys(wrong).sort()).toEqual(Object.keys(catalog).sort())
})

describe('an option that would be silently ignored is an error', () => {
  /** A client of ioredis, as far as it can be distinguished from options. */
  class Client {
    sendCommand() {}
    connect() {}
  }

  test.each<[string, object, RegExp]>([
    ['sources that were not awaited', { graphql: { schema: { resolvers: Promise.resolve({}) } } }, /resolvers/],
    ['a route of GraphQL that an import did not give', { graphql: { route: undefined } }, /graphql\.route/],
    ['an environment that was not awaited', { env: { environment: Promise.resolve({}) } }, /env\.environment/],
    ['checks in a Map', { health: { checks: new Map([['a', () => true]]) } }, /health\.checks/],
    ['a text for a flag of helmet', { helmet: { contentSecurityPolicy: { reportOnly: 'false' } } }, /true or false/],
    ['no flag of helmet', { helmet: { hsts: { preload: null } } }, /hsts\.preload/],
    ['directives in a Map', { helmet: { contentSecurityPolicy: { directives: new Map() } } }, /sources by directive/],
    ['secrets with a hole', { session: { secret: new Array(1) } }, /session\.secret.*undefined/],
    ['names with a hole', { cors: { methods: new Array(1) } }, /cors\.methods/],
    ['roots with a hole', { static: new Array(1) }, /static\[0\]/],
    ['a client for options of Redis', { rateLimit: { store: new Client() } }, /rateLimit\.store/],
    ['a client for options of BullMQ', { queues: { config: { bullmq: { connection: new Client() } } } }, /connection/],
    ['no certificate to believe', { mqtt: { connect: { ca: [] } } }, /connect\.ca/],
  ])('%s', (_what, plugins, message) => {
    const start = () => new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins } as never)
    expect(start).toThrow(message)
  })

  test.each([null, '', 0, false])('a policy of the description that is %j', async (policy) => {
    const plugins = { openapi: { policy } } as {}
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins })
    await expect(server.ready()).rejects.toThrow('the option "policy" is ')
  })

  test('a plugin that is turned off and given by another option', () => {
    const options = { plugins: { queues: false }, background: { queues: {} } } as const
    expect(() => new Server(options)).toThrow(
      `plugins.queues is false, and the server's option "background.queues" is given. Keep one`,
    )
  })
})

/** Options with members in every object; each is misspelt in turn. */
const nested: { readonly [key: string]: object } = {
  openapi: {
    info: {
      title: 'a',
      version: '1',
      summary: 's',
      contact: { name: 'x', email: 'a@b.test' },
      license: { name: 'MIT' },
    },
    servers: [{ url: 'https://a.test', variables: { one: { default: 'a', description: 'b' } } }],
    tags: [{ name: 'a', externalDocs: { url: 'https://a.test', description: 'b' } }],
    externalDocs: { url: 'https://a.test', description: 'b' },
    components: {
      parameters: { one: { name: 'a', required: true } },
      requestBodies: { one: { content: {}, description: 'a' } },
      responses: { one: { description: 'a' } },
      headers: { one: { description: 'a' } },
      examples: { one: { summary: 'a' } },
      links: { one: { operationId: 'a' } },
      securitySchemes: { one: { type: 'http', scheme: 'bearer' } },
    },
  },
  asyncapi: {
    info: { title: 'a', version: '1' },
    servers: [{ url: 'wss://a.test', description: 'a' }],
    tags: [{ name: 'a' }],
  },
  graphql: {
    schema: { typeDefs: 'type Query { a: Int }' },
    limits: { depth: 3, aliases: 2 },
    cost: { listSize: 5 },
    jit: { minCount: 3 },
    websocket: { maxOperations: 3 },
    apolloOptions: { introspection: true },
  },
  cache: { provider: 'redis', redis: { url: 'redis://127.0.0.1:1' } },
  session: { secret: 'x'.repeat(32), cookie: { sameSite: 'lax' } },
  queues: {
    config: {
      memory: { maxSize: 5 },
      bullmq: { connection: { host: 'a.test', password: 'x' } },
      sqs: { region: 'x', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } },
    },
  },
  mqtt: { connect: { host: 'a.test', will: { topic: 'a', message: 'b' } } },
  channels: { store: { redis: { url: 'redis://127.0.0.1:1' } } },
  rateLimit: { store: { redis: { url: 'redis://127.0.0.1:1', keyPrefix: 'x' } } },
  helmet: {
    contentSecurityPolicy: { reportOnly: false, directives: { scriptSrc: ["'self'"], 'img-src': ['*'] } },
    hsts: { maxAge: 5 },
    frameguard: { action: 'deny' },
  },
  cookie: { secret: 'x'.repeat(32), defaults: { path: '/' } },
  telemetry: { incoming: 'link' },
  inspector: { keep: 5 },
  health: { timeout: 5 },
  metrics: { path: '/m' },
  upload: { maxFiles: 5 },
}

describe.each(Object.entries(nested))('a misspelt member of %s is an error', (key, options) => {
  const fault = (given: object) => {
    const plugins = { [key]: given } as {}
    try {
      new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins })
    } catch (error) {
      return (error as Error).message
    }
    return 'nothing is wrong'
  }
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  const misspelt = (name: string) => name.slice(0, -2) + name.at(-1) + name.at(-2)
  // Names of the user's own choice.
  const free = new Set(['one', 'title'])

  function* cases(value: unknown, path: string, whole: (part: unknown) => object): Generator<[string, object]> {
    if (!isObject(value)) return
    for (const [name, one] of Object.entries(value)) {
      const inner = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`
      yield* cases(one, inner, (part) =>
        whole(
          Array.isArray(value) ? value.map((old, i) => (String(i) === name ? part : old)) : { ...value, [name]: part },
        ),
      )
    }
    const known = Array.isArray(value)
      ? undefined
      : Object.keys(value).find((name) => name.length > 3 && !free.has(name))
    if (known !== undefined) yield [`${path}.${misspelt(known)}`, whole({ ...value, [misspelt(known)]: value[known] })]
  }

  test('and the options are right otherwise', () => expect(fault(options)).toBe('nothing is wrong'))
  test.each([...cases(options, `plugins.${key}`, (part) => part as object)])('%s', (path, given) => {
    expect(fault(given)).toContain(`"${path}"`)
  })
})

test('extensions are members of every object of a description', () => {
  const own = { 'x-own': 1 }
  const info = { title: 'a', version: '1', ...own, contact: own }
  const components = { responses: { one: { description: 'a', ...own } }, parameters: { one: own } }
  const openapi = { info, servers: [{ url: '/', ...own }], tags: [{ name: 'a', ...own }], components } as {}
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { openapi } })
  const apidoc = { ...own, responses: { 404: { description: 'a', ...own } }, requestBody: own, parameters: [own] } as {}
  server.post('/a', { apidoc }, () => 1)
  return expect(server.ready()).resolves.toBeUndefined()
})

test('a listing shows neither the user at a broker nor the last will', () => {
  const connect = { host: 'localhost', username: 'hunter2', will: { topic: 'gone', message: 'hunter2' } }
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { mqtt: { connect } } })
  expect(JSON.stringify(server.plugins)).not.toContain('hunter2')
})
