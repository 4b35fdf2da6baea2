import * as framework from 'framework'
import * as plugins from 'framework/plugins'
import * as schemes from 'framework/plugins/auth'
import { describe, expect, test } from 'vitest'
import { differencesOf, fileOf, readFile } from '../../cli/access/file.ts'
import { lookOnly } from '../../cli/access/look.ts'
import { type WayIn, waysOf } from '../../cli/access/ways.ts'

/** The sample application, as text, so that an edit is one of its source. */
const source = `
const { Server, RouteCollection, PolicyManager, definePlugin, channel, LocalStorageProvider, cronUi } = framework
const { bearer, session, apiKey } = schemes
const routes = new RouteCollection()
const policies = new PolicyManager({ site: { admin: () => true, staff: () => true }, orders: { read: () => true } })
const policy = (scope, handler) => ({ manager: policies, scope, handler })
function requireStaff(req, res, next) { return next() }
function requireOwner(req, res, next) { return next() }
function audit(req, res, next) { return next() }
function timing(req, res, next) { return next() }
const news = channel('news', { join: () => true })
const rooms = channel('rooms/:id', { join: () => true })
const show = () => 'shown'

// A plugin of another author, which describes itself.
const tenants = definePlugin({
  name: 'tenants',
  routeOptions: { tenant: (value) => value },
  access: { guards: ({ options }) => ({ conditions: options?.tenant === false ? {} : { tenant: [] } }) },
  setup(ctx) { ctx.use((req, res, next) => next()) },
})
// One that does not.
const roles = definePlugin({
  name: 'roles',
  routeOptions: { roles: (value) => value },
  setup(ctx) {
    ctx.onRoute((route) => {
      if (route.settings.roles) route.add('guard', function hasRole(req, res, next) { return next() })
    })
  },
})
const admin = definePlugin({
  name: 'admin',
  prefix: '/admin',
  setup(ctx) {
    ctx.use(requireStaff)
    ctx.get('/users', show)
    ctx.delete('/users/:id', { policy: policy('site', 'admin') }, show)
    // admin ends
  },
})
const legacy = definePlugin({ name: 'legacy', setup(ctx) { ctx.fallback('/old', show) } })
const hidden = definePlugin({ name: 'hidden', health: { hidden: { check() {} } }, setup(ctx) {} })
const seen = definePlugin({
  name: 'seen',
  scoped: true,
  health: { seen: { check() {} } },
  access: { routes: true },
  setup(ctx) {
    ctx.use(requireOwner)
    ctx.get('/shown', show)
  },
})

const token = bearer(() => undefined)
const web = session(() => undefined)
const keys = apiKey({ prefix: 'shop', find: () => undefined })

const server = new Server({
  router: routes,
  plugins: {
    session: { secret: '0123456789abcdef0123456789abcdef', store: { redis: 'redis://127.0.0.1:1' } },
    cache: { provider: 'redis', redis: { url: 'redis://127.0.0.1:1' } },
    database: { url: 'postgres://u:p@127.0.0.1:1/none' },
    auth: { schemes: { token, web, keys }, unmatched: 'required' },
    csrf: true,
    rateLimit: { limit: 100, windowMs: 60000, store: { redis: 'redis://127.0.0.1:1' } },
    health: true,
    metrics: { addresses: ['10.0.0.0/8'] },
    openapi: { middlewares: [requireStaff] },
    queues: { ui: { path: '/queues', middlewares: [requireStaff] } },
    cron: { ui: { path: '/crons', middlewares: [requireStaff] } },
    webhooks: true,
    websocket: true,
    channels: true,
    static: { root: 'docs/diagrams', prefix: '/assets' },
    storage: {
      providers: { files: new LocalStorageProvider({ root: 'docs/diagrams', signedUrls: { secret: '0123456789abcdef0123456789abcdef', path: '/files' } }) },
      defaultProvider: 'files',
    },
    graphql: { schema: { typeDefs: 'type Query { hello: String }', resolvers: {} }, route: { policy: policy('site', 'staff') } },
    tenants: tenants(),
    roles: roles(),
    admin: admin(),
    legacy: legacy(),
    hidden: hidden(),
    seen: seen(),
  },
})
server.use(audit)
server.use(timing)

routes.get('/about', { auth: false, tenant: false }, show)
routes.get('/orders', { auth: { schemes: ['token', 'web'], scopes: ['orders:read', 'profile'] } }, show)
routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)
routes.post('/orders', { policy: [policy('orders', 'read'), policy('site', 'staff')], rateLimit: { limit: 5 } }, show)
routes.put('/orders/:id', { middlewares: [requireOwner] }, show)
routes.get('/reports', { roles: ['chief'] }, show)
routes.get('/feed', { auth: 'optional' }, show)
routes.post('/hooks', { auth: false, csrf: false, webhook: { scheme: 'github', secret: 'it is long enough for this' } }, show)
routes.any('/echo', show)
routes.post('/jobs/run:stop', { auth: 'required' }, show)
routes.post('/jobs/run:go', { auth: 'required', tenant: false }, show)
routes.ws('/live', { channels: [news], socket: { origins: ['https://a.example'] } }, {})
routes.group('/staff', [requireStaff, policies.guard('site', 'staff')], (r) => {
  r.get('/plans', show)
  r.post('/plans', { policy: policy('site', 'admin') }, show)
  r.get('/plans/:id', show)
  // staff ends
})
// routes end
return server
`

/** The ways in of the application with an edit. */
async function waysAfter(from = '', to = ''): Promise<WayIn[]> {
  expect(source.split(from).length, `${from} must be there once`).toBe(from === '' ? source.length : 2)
  const make = new Function(
    'framework',
    'plugins',
    'schemes',
    source.replace(from, () => to),
  )
  const server = make(framework, plugins, schemes) as framework.Server
  const unseen = lookOnly(server as never)
  await server.ready()
  try {
    return waysOf(server as never, unseen)
  } finally {
    await server.close()
  }
}

const filed = waysAfter().then((ways) => fileOf(ways, 'access.txt'))

type Edit = readonly [name: string, from: string, to: string, way: string]

/** Each lets more people in, at this way. */
const wider: readonly Edit[] = [
  ['a public route', '// routes end', "routes.get('/new', { auth: false, tenant: false }, show)", 'GET /new'],
  [
    'a public route with an own guard alone',
    '// routes end',
    "routes.get('/new', { auth: false, tenant: false, middlewares: [requireStaff] }, show)",
    'GET /new',
  ],
  [
    'a public websocket',
    '// routes end',
    "routes.ws('/new', { auth: false, tenant: false }, { message() {} })",
    'WS /new',
  ],
  ['an optional route', '// routes end', "routes.get('/new', { auth: 'optional', tenant: false }, show)", 'GET /new'],
  [
    'a required credential becomes optional',
    "routes.get('/orders/:id', { policy",
    "routes.get('/orders/:id', { auth: 'optional', policy",
    'GET /orders/:id',
  ],
  [
    'a required credential is not asked',
    "routes.get('/orders/:id', { policy",
    "routes.get('/orders/:id', { auth: false, policy",
    'GET /orders/:id',
  ],
  ['an optional credential is not read', "'/feed', { auth: 'optional' }", "'/feed', { auth: false }", 'GET /feed'],
  [
    'a route without options is public',
    "routes.any('/echo', show)",
    "routes.any('/echo', { auth: false }, show)",
    'ANY /echo',
  ],
  [
    'the default is optional',
    "unmatched: 'required' }",
    "unmatched: 'required', default: 'optional' }",
    'GET /reports',
  ],
  ['files need no credential', "unmatched: 'required' }", 'unmatched: false }', 'GET /assets/*'],
  [
    'the plugin auth is away from files and routes',
    "auth: { schemes: { token, web, keys }, unmatched: 'required' },",
    "auth: { schemes: { token, web, keys }, unmatched: 'required', default: false },",
    'GET /admin/users',
  ],
  [
    'a scheme is removed from a route',
    "schemes: ['token', 'web'], scopes",
    "schemes: ['token'], scopes",
    'GET /orders',
  ],
  [
    'a scheme is added to a route',
    "schemes: ['token', 'web'], scopes",
    "schemes: ['token', 'web', 'keys'], scopes",
    'GET /orders',
  ],
  ['a route accepts all schemes', "schemes: ['token', 'web'], scopes", 'scopes', 'GET /orders'],
  [
    'the schemes are in another order',
    '{ schemes: { token, web, keys }',
    '{ schemes: { web, token, keys }',
    'GET /orders',
  ],
  [
    'a scheme is removed from the plugin',
    '{ schemes: { token, web, keys }',
    '{ schemes: { token, web }',
    'GET /reports',
  ],
  [
    'a scheme is added to the plugin',
    '{ schemes: { token, web, keys }',
    '{ schemes: { token, web, keys, more: token }',
    'GET /reports',
  ],
  ['a scope is dropped', "['orders:read', 'profile']", "['orders:read']", 'GET /orders'],
  ['a scope is another one', "['orders:read', 'profile']", "['orders', 'profile']", 'GET /orders'],
  ['all scopes are dropped', ", scopes: ['orders:read', 'profile']", '', 'GET /orders'],
  [
    'a policy is removed',
    "routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)",
    "routes.get('/orders/:id', show)",
    'GET /orders/:id',
  ],
  [
    'a policy is replaced',
    "routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)",
    "routes.get('/orders/:id', { policy: policy('site', 'staff') }, show)",
    'GET /orders/:id',
  ],
  [
    'one of two policies is removed',
    "[policy('orders', 'read'), policy('site', 'staff')]",
    "policy('orders', 'read')",
    'POST /orders',
  ],
  [
    'a guard of a group is removed',
    "[requireStaff, policies.guard('site', 'staff')]",
    '[requireStaff]',
    'GET /staff/plans',
  ],
  [
    'a guard of a group is replaced',
    "policies.guard('site', 'staff')]",
    "policies.guard('orders', 'read')]",
    'GET /staff/plans/:id',
  ],
  [
    'a middleware of a group is removed',
    "[requireStaff, policies.guard('site', 'staff')]",
    "[policies.guard('site', 'staff')]",
    'POST /staff/plans',
  ],
  [
    'a route moves out of a group',
    "  r.get('/plans/:id', show)\n  // staff ends\n})",
    "})\nroutes.get('/staff/plans/:id', show)",
    'GET /staff/plans/:id',
  ],
  [
    'a route moves out of a scope',
    "    ctx.get('/users', show)\n",
    '    ctx.server.get("/admin/users", show)\n',
    'GET /admin/users',
  ],
  ['the guard of a scope is removed', '    ctx.use(requireStaff)\n', '', 'DELETE /admin/users/:id'],
  [
    'a policy in a scope is removed',
    "'/users/:id', { policy: policy('site', 'admin') }, show",
    "'/users/:id', show",
    'DELETE /admin/users/:id',
  ],
  [
    'a middleware of a route is removed',
    "'/orders/:id', { middlewares: [requireOwner] }, show",
    "'/orders/:id', show",
    'PUT /orders/:id',
  ],
  [
    'a middleware of a route is replaced',
    '{ middlewares: [requireOwner] }',
    '{ middlewares: [requireStaff] }',
    'PUT /orders/:id',
  ],
  ['a middleware of the server is removed', 'server.use(audit)', '', 'ANY *'],
  ['a page without middlewares', 'middlewares: [requireStaff] },\n    queues', '},\n    queues', 'GET /docs'],
  [
    'a page of queues without middlewares',
    "queues: { ui: { path: '/queues', middlewares: [requireStaff] } }",
    "queues: { ui: { path: '/queues' } }",
    'POST /queues',
  ],
  [
    'a page of cron jobs without middlewares',
    "cron: { ui: { path: '/crons', middlewares: [requireStaff] } }",
    "cron: { ui: { path: '/crons' } }",
    'GET /crons',
  ],
  [
    'a page that is new and public',
    '// routes end',
    "server.register(framework.definePlugin({ name: 'page', setup: (ctx) => ctx.get('/page', { auth: false, tenant: false }, show) })())",
    'GET /page',
  ],
  ['metrics for more addresses', "addresses: ['10.0.0.0/8']", "addresses: ['10.0.0.0/8', '0.0.0.0/0']", 'GET /metrics'],
  ['metrics for other addresses', "addresses: ['10.0.0.0/8']", "addresses: ['0.0.0.0/0']", 'GET /metrics'],
  ['metrics on a port', "metrics: { addresses: ['10.0.0.0/8'] }", 'metrics: { port: 9464 }', 'PORT 9464/metrics'],
  ['other files', "root: 'docs/diagrams', prefix: '/assets'", "root: 'docs', prefix: '/assets'", 'GET /assets/*'],
  ['files with a dot', "prefix: '/assets' }", "prefix: '/assets', dotfiles: 'allow' }", 'GET /assets/*'],
  ['graphql without its policy', ", route: { policy: policy('site', 'staff') }", '', 'POST /graphql'],
  [
    'a webhook that is not verified',
    ", webhook: { scheme: 'github', secret: 'it is long enough for this' }",
    '',
    'POST /hooks',
  ],
  ['requests of foreign pages', 'csrf: true,', "csrf: { origins: ['https://b.example'] },", 'POST /orders'],
  ['no protection from foreign pages', 'csrf: true,', '', 'PUT /orders/:id'],
  [
    'a route without that protection',
    "'/orders/:id', { middlewares",
    "'/orders/:id', { csrf: false, middlewares",
    'PUT /orders/:id',
  ],
  ['sockets of other pages', "['https://a.example']", "['https://a.example', 'https://b.example']", 'WS /live'],
  ['sockets of all pages', "['https://a.example']", "'any'", 'WS /live'],
  ['another role', "roles: ['chief']", "roles: ['clerk']", 'GET /reports'],
  ['no role', ", { roles: ['chief'] }", '', 'GET /reports'],
  [
    'a condition of a foreign plugin',
    "routes.get('/reports', { roles",
    "routes.get('/reports', { tenant: false, roles",
    'GET /reports',
  ],
  ['a foreign plugin asks less', '{ tenant: [] }', '{}', 'GET /feed'],
  [
    'a plugin that cannot be seen',
    '// routes end',
    "server.register(framework.definePlugin({ name: 'search', health: { search: { check() {} } }, setup: (ctx) => ctx.get('/search', show) })())",
    '? plugin search',
  ],
  [
    'a public route whose own guard has the name of a mode',
    '// routes end',
    "routes.get('/new', { auth: false, tenant: false, middlewares: [function required(req, res, next) { next() }] }, show)",
    'GET /new',
  ],
  [
    'a route for every method instead of one with a policy',
    "routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)",
    "routes.any('/orders/:id', show)",
    'ANY /orders/:id',
  ],
  [
    'a route for one method that is before the one for every method',
    '// routes end',
    "routes.get('/echo', { tenant: false }, show)",
    'GET /echo',
  ],
  [
    'a foreign plugin asks less for one of the methods of a route for all',
    'guards: ({ options }) => ({ conditions: options?.tenant === false',
    "guards: ({ options, method }) => ({ conditions: method === 'PUT' || options?.tenant === false",
    'PUT /echo',
  ],
  [
    'a public route at the path of a fallback that is asked more',
    '// routes end',
    "routes.any('/old/*', { auth: false, tenant: false }, show)",
    'ANY /old/*',
  ],
  [
    'a group has another prefix, and one guard less',
    "routes.group('/staff', [requireStaff, policies.guard('site', 'staff')]",
    "routes.group('/crew', [requireStaff]",
    'GET /crew/plans/:id',
  ],
  [
    'a wildcard instead of a parameter with a policy',
    "routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)",
    "routes.get('/orders/*', show)",
    'GET /orders/*',
  ],
  [
    'a further parameter that may be absent, instead of a policy',
    "routes.get('/orders/:id', { policy: policy('orders', 'read') }, show)",
    "routes.get('/orders/:id/:part?', show)",
    'GET /orders/:id/:part?',
  ],
  ['the only middlewares of the server are removed', 'server.use(audit)\nserver.use(timing)', '', 'ANY *'],
  [
    'one of two paths with a colon within',
    "routes.post('/jobs/run:stop', { auth: 'required' }, show)",
    "routes.post('/jobs/run:stop', { auth: 'optional' }, show)",
    'POST /jobs/run:stop',
  ],
  ['a plugin that may guard and was not seen', 'hidden: hidden(),', '', '? plugin hidden'],
  ['the guard of a plugin that has its setup run', 'ctx.use(requireOwner)', '', 'GET /shown'],
  [
    'a plugin that cannot be seen in the place of a route',
    "routes.get('/feed', { auth: 'optional' }, show)",
    "server.register(framework.definePlugin({ name: 'search', health: { search: { check() {} } } })())",
    '? plugin search',
  ],
  ['a plugin whose setup fails', '    // admin ends', "throw new Error('not here')", '? plugin admin'],
]

/** No more people get in: nothing to report, or the file is old. */
const harmless: readonly (readonly [name: string, from: string, to: string, isOld?: boolean])[] = [
  ['nothing', '', ''],
  ['a handler is renamed', "const show = () => 'shown'", "const display = () => 'shown', show = display"],
  ['a handler is written in place', "routes.any('/echo', show)", "routes.any('/echo', (req) => req.method)"],
  ['a line is added before', 'const routes =', '\n\nconst more = 1\nconst routes ='],
  ['a parameter is renamed', "r.get('/plans/:id', show)", "r.get('/plans/:plan', show)"],
  [
    'routes are in another order',
    "  r.get('/plans', show)\n  r.post('/plans', { policy: policy('site', 'admin') }, show)",
    "  r.post('/plans', { policy: policy('site', 'admin') }, show)\n  r.get('/plans', show)",
  ],
  [
    'policies are in another order',
    "[policy('orders', 'read'), policy('site', 'staff')]",
    "[policy('site', 'staff'), policy('orders', 'read')]",
  ],
  ['scopes are in another order', "['orders:read', 'profile']", "['profile', 'orders:read']"],
  [
    'middlewares of a group are in another order',
    "[requireStaff, policies.guard('site', 'staff')]",
    "[policies.guard('site', 'staff'), requireStaff]",
  ],
  ['a default is written out', "routes.any('/echo', show)", "routes.any('/echo', { auth: 'required' }, show)"],
  ['a schema is added', "'/feed', { auth: 'optional' }", "'/feed', { auth: 'optional', query: { type: 'object' } }"],
  ['a response is cached', "'/feed', { auth: 'optional' }", "'/feed', { auth: 'optional', cache: { ttl: 5 } }"],
  [
    'a description is added',
    "'/feed', { auth: 'optional' }",
    "'/feed', { auth: 'optional', apidoc: { summary: 'News' } }",
  ],
  [
    'a policy moves from a route to a group',
    "  r.post('/plans', { policy: policy('site', 'admin') }, show)",
    "  r.group('/', [policies.guard('site', 'admin')], (s) => void s.post('/plans', show))",
  ],
  ['a wildcard instead of a parameter', "routes.get('/orders/:id', { policy", "routes.get('/orders/*', { policy", true],
  ['a group has another prefix', "routes.group('/staff', ", "routes.group('/crew', ", true],
  [
    'a route for every method is split',
    "routes.any('/echo', show)",
    "for (const verb of ['get', 'post', 'put', 'patch', 'delete', 'options', 'query']) routes[verb]?.('/echo', show)",
    true,
  ],
  [
    'a route for every method is added',
    '// routes end',
    "routes.any('/orders', { auth: { schemes: ['token', 'web'] } }, show)",
    true,
  ],
  ['a group is split', '  // staff ends', "  r.group('/more', (s) => {})"],
  ['the cache is in memory', "cache: { provider: 'redis', redis: { url: 'redis://127.0.0.1:1' } },", 'cache: true,'],
  ['a scope is required in addition', "['orders:read', 'profile']", "['orders:read', 'profile', 'more']", true],
  ['an optional credential is required', "'/feed', { auth: 'optional' }", "'/feed', { auth: 'required' }", true],
  [
    'a policy is added',
    "'/feed', { auth: 'optional' }",
    "'/feed', { auth: 'optional', policy: policy('site', 'staff') }",
    true,
  ],
  ['a route is removed', "routes.get('/feed', { auth: 'optional' }, show)", '', true],
  ['a route that is guarded is added', '// routes end', "routes.get('/new', show)", true],
  ['a guard is added to a group', '[requireStaff, policies', '[requireStaff, audit, policies', true],
  ['a limit is another one', 'limit: 5', 'limit: 50', true],
  ['a limit is removed', ', rateLimit: { limit: 5 }', '', true],
  [
    'fewer addresses read the metrics',
    "addresses: ['10.0.0.0/8']",
    "addresses: ['10.0.0.0/8'], policy: policy('site', 'staff')",
    true,
  ],
  ['a channel is added', 'channels: [news]', 'channels: [news, rooms]', true],
  ['a middleware of the server is added', '// routes end', 'server.use(requireStaff)', true],
]

describe('an edit that lets more people in is found, with its place', () => {
  test.each(wider)('%s', async (_, from, to, way) => {
    const found = differencesOf(readFile(await filed, 'access.txt'), await waysAfter(from, to))
    const differs = found.filter(({ isWider }) => isWider).map((one) => one.way)
    expect(differs, JSON.stringify(found, undefined, 1)).toContain(way)
  })
})

describe('an edit that lets no one else in is not blamed', () => {
  const edits = harmless.map(([name, from, to, isOld = false]) => ({ name, from, to, isOld }))
  test.each(edits)('$name', async ({ from, to, isOld }) => {
    const found = differencesOf(readFile(await filed, 'access.txt'), await waysAfter(from, to))
    expect(found.filter(({ isWider }) => isWider)).toEqual([])
    expect(found.length > 0, JSON.stringify(found, undefined, 1)).toBe(isOld)
  })
})

test('there are more than 60 edits', () => expect(wider.length + harmless.length).toBeGreaterThan(60))

test('the file is the same as JSON, and one line is one way in', async () => {
  const ways = await waysAfter()
  const json = fileOf(ways, 'access.json')
  expect(differencesOf(readFile(json, 'access.json'), ways)).toEqual([])
  expect(json.split('\n').filter((line) => line.includes('"way"'))).toHaveLength(ways.length)
  expect((await filed).split('\n').filter((line) => line.includes(' | '))).toHaveLength(ways.length)
  expect(await filed).not.toMatch(/\.ts:\d|0x|127\.0\.0\.1/)
})

test('a signed address is a credential of its own: it needs no other, and no tenant', async () => {
  const lines = (await filed).split('\n').filter((line) => line.includes(' /files/*'))
  expect(lines).toEqual([
    'GET /files/* | auth none; limit 100 in 60 s; signed address',
    'PUT /files/* | auth none; csrf; limit 100 in 60 s; signed address',
  ])
})

test('a new way in that asks for a tenant alone is open', () => {
  const now = [{ way: 'GET /new', facts: ['auth none', 'tenant'], by: 'application', at: '' }]
  expect(differencesOf([], now)).toMatchObject([{ isWider: true }])
})

test('the first middleware of the server takes no requests of a route that went', () => {
  const now = [{ way: 'ANY *', facts: ['own audit'], by: 'application', at: '' }]
  expect(
    differencesOf([{ way: 'GET /old', facts: ['auth required (token)'] }], now).filter((one) => one.isWider),
  ).toEqual([])
})
