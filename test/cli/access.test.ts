import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { catalog, core } from '../../plugins/catalog.ts'
import { framework } from '../support/cli/fresh.ts'
import { type Ended, framework as frameworkAlone, makeProject, type Project } from '../support/cli.ts'

const made: Project[] = []
afterAll(() => {
  for (const project of made) project.remove()
})

const shared = Promise.resolve().then(() => {
  const one = makeProject({}, ['ioredis', 'pg'])
  made.push(one)
  return one
})

/** The command in a project with this server. */
async function access(
  server: string,
  args: readonly string[] = [],
  files: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const { folder, write } = await shared
  write({ 'src/server.ts': server, ...files })
  return framework(folder, ['access', ...args], { NODE_ENV: undefined })
}

const routes = (given: string) => `import { definePlugin, PolicyManager, Server, router } from 'framework'
import { bearer } from 'framework/plugins/auth'
const policies = new PolicyManager({ site: { admin: () => true } })
const admin = { policy: { manager: policies, scope: 'site', handler: 'admin' } } as const
function requireStaff(_req: unknown, _res: unknown, next: () => void) { next() }
export const server = new Server({ plugins: { auth: { schemes: { token: bearer(() => undefined) } } } })
${given}
`
const usual = routes("router.get('/orders', admin, () => 1)\nrouter.get('/about', { auth: false }, () => 1)")

describe('the list', () => {
  test('has each way in with its credential, its policies, what is not visible, and its place', async () => {
    const { code, stdout, stderr } = await access(
      routes("router.get('/orders', { ...admin, middlewares: [requireStaff] }, () => 1)"),
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout.split('\n')[0]).toMatch(/^Way in +Credential +Policies and conditions +Not visible +By, at$/)
    expect(stdout.split('\n')[1]).toMatch(
      /^GET \/orders +auth required \(token\) +policy site\.admin +own requireStaff +src\/server\.ts:7:8$/,
    )
    expect(stderr).toContain('1 ways in: 1 guarded, 0 only by what cannot be seen here, 0 open')
  })

  test('is JSON with --json', async () => {
    const { stdout } = await access(usual, ['--json'])
    expect(JSON.parse(stdout)).toEqual([
      { way: 'GET /about', facts: ['auth none'], by: 'application', at: 'src/server.ts:8:8' },
      {
        way: 'GET /orders',
        facts: ['auth required (token)', 'policy site.admin'],
        by: 'application',
        at: 'src/server.ts:7:8',
      },
    ])
  })

  test('needs no service: nothing is connected to', async () => {
    let connections = 0
    const services = createServer((socket) => {
      connections++
      socket.destroy()
    })
    await once(services.listen(0, '127.0.0.1'), 'listening')
    const { port } = services.address() as AddressInfo
    const redis = `redis://127.0.0.1:${port}`
    const { code, stdout, stderr } = await access(`import { definePlugin, Server } from 'framework'
const orders = definePlugin({ name: 'orders', dependencies: ['database'], async setup(ctx) {
  const database = ctx.services.get('database')
  const { rows } = await database.query('select name from shops')
  new database.Batch(rows)
  for (const row of rows) ctx.get('/shops/' + row.name, () => row)
  ctx.get('/orders', () => database.query('select 1'))
  ctx.onReady(() => { throw new Error('not here') })
} })
export const server = new Server({ plugins: {
  database: { url: 'postgres://u:p@127.0.0.1:${port}/shop' }, cache: { provider: 'redis', redis: { url: '${redis}' } },
  session: { secret: '0123456789abcdef0123456789abcdef', store: { redis: '${redis}' } }, rateLimit: { store: { redis: '${redis}' } },
  locks: { store: { redis: '${redis}' } }, idempotency: { store: { redis: '${redis}' } },
  websocket: true, channels: { store: { redis: '${redis}' } }, mqtt: { connect: { host: '127.0.0.1', port: ${port} } },
  queues: { config: { bullmq: { connection: '${redis}' } }, run: true, ui: { path: '/queues', middlewares: [(_req, _res, next) => next()] } },
  health: true, openapi: true, orders: orders() } })
`)
    services.close()
    expect({ code, stderr, connections }).toMatchObject({ code: 0, connections: 0 })
    const ways = stdout.split('\n').map((line) => line.split('  ')[0])
    expect(ways).toEqual(
      expect.arrayContaining(['GET /orders', 'GET /queues', 'POST /queues', 'GET /docs', 'GET /health/ready']),
    )
    // Where the plugin is registered, because the route is not in the application.
    expect(stdout).toMatch(/GET \/queues .* own anonymous +queues, src\/server\.ts:/)
  })

  test('says which plugins it cannot look into, and why', async () => {
    const { code, stdout, stderr } = await access(
      routes(`server.register(definePlugin({ name: 'search', health: { search: { check() {} } }, setup(ctx) { ctx.get('/search', () => 1) } })())
server.register(definePlugin({ name: 'broken', setup() { throw new Error('no licence') } })())`),
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/\? plugin broken .*not seen +broken, src\/server\.ts:8/)
    expect(stdout).toMatch(/\? plugin search .*not seen +search, src\/server\.ts:7/)
    expect(stderr).toContain('? plugin broken is not seen: its setup fails: no licence')
    expect(stderr).toContain('? plugin search is not seen: it talks to other servers')
  })

  test('takes the word of a foreign plugin that describes itself, and looks at the middlewares before it', async () => {
    const { stdout } = await access(
      routes(`server.register(definePlugin({
  name: 'tenants', health: { tenants: { check() {} } }, routeOptions: { tenant: (given: unknown) => given },
  access: {
    guards: ({ options }) => (options !== undefined && 'tenant' in options ? { conditions: { tenant: [] }, credential: { mode: 'required', schemes: ['saml'] } } : undefined),
    ways: (settings: { at: string }) => [
      { method: 'GET', path: settings.at + '/*' },
      { method: 'PUT', path: '/first/*', after: 'before' },
      { method: 'PORT', path: '99', after: 'none', conditions: { host: ['::1'] } },
    ],
  },
  setup(_ctx, _settings: { at: string }) { throw new Error('not here') },
})({ at: '/exports' }))
router.get('/orders', { tenant: true } as {}, () => 1)`),
    )
    const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | '))
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^GET \/orders \| auth required \(token\), tenants required \(saml\) \| tenant \| - /),
        expect.stringMatching(/^GET \/exports\/\* \| auth required \(token\) \| - \| - \| tenants, src\/server\.ts:18/),
        expect.stringMatching(/^PORT 99 \| - \| host \(::1\) /),
      ]),
    )
  })

  test('fails for a description with a mistake, which would hide the plugin', async () => {
    const { code, stderr } = await access(
      routes("server.register(definePlugin({ name: 'tenants', access: { guard: () => undefined } as {} })())"),
    )
    expect(code).toBe(1)
    expect(stderr).toContain('the plugin "tenants": access takes false or { routes, guards, ways }, not "guard"')
  })

  test('does not show the secrets in options of foreign plugins', async () => {
    const { stdout } = await access(
      routes(`server.register(definePlugin({ name: 'roles', routeOptions: { roles: (given: unknown) => given } })())
router.get('/orders', { roles: { of: ['chief'], token: 'tr0ub4dor', is: () => true } } as {}, () => 1)`),
    )
    expect(stdout).toContain('option roles = {"of":["chief"],"token":"[redacted]","is":"not visible"}')
  })

  test('has what an application that boots itself has', async () => {
    const { code, stdout } = await access(routes("router.get('/orders', () => 1)\nawait server.ready()"))
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('GET /orders') })
  })
})

describe('--check', () => {
  test('is 0 while the file is right, 1 when more people get in, 3 when it is only old', async () => {
    expect(await access(usual, ['--write'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('access.txt: 2 ways in'),
    })
    expect(await access(usual, ['--check'])).toMatchObject({ code: 0, stdout: '' })

    const wider = await access(usual.replace("'/orders', admin,", "'/orders', { ...admin, auth: 'optional' },"), [
      '--check',
    ])
    expect(wider).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('More people get in than access.txt says'),
    })
    expect(wider.stdout).toMatch(
      /^wider +GET \/orders +auth required \(token\) → auth optional \(token\) +src\/server\.ts:7:8\n$/,
    )

    const old = await access(usual.replace('{ auth: false }', '{ ...admin }'), ['--check', 'access.txt'])
    expect(old).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('access.txt is old: run framework access --write'),
    })
    expect(old.stdout).toMatch(/^changed +GET \/about +auth none → auth required \(token\)/)
  })

  test('compares the file that is named, as text or JSON, and knows its lines after a checkout with CRLF', async () => {
    await access(usual, ['--out', 'docs/reach.json'])
    expect(await access(usual, ['--check', 'docs/reach.json'])).toMatchObject({ code: 0 })
    const text = '# by hand\r\nGET /about | auth none\r\n\r\nGET /orders | auth required (token); policy site.admin\r\n'
    expect(await access(usual, ['--check', 'reach.txt'], { 'reach.txt': text })).toMatchObject({ code: 0 })
  })

  test('fails for two files of which reviewers may read the other one', async () => {
    const files = { 'access.txt': '# nothing\n', 'access.json': '[]' }
    const ended = await access(usual, ['--check'], files)
    for (const name of Object.keys(files)) rmSync(join((await shared).folder, name))
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('access.json and access.txt both exist') })
  })

  test('knows a path with a bar', async () => {
    const bar = routes("router.get('/a | b', () => 1)")
    await access(bar, ['--out', 'bar.txt'])
    expect(await access(bar, ['--check', 'bar.txt'])).toMatchObject({ code: 0 })
  })

  test.each([
    ['missing.txt', undefined, 'missing.txt is missing: run framework access --write missing.txt'],
    ['wrong.txt', 'GET /orders\n', 'wrong.txt: line 1 does not have the form "GET /path | …"'],
    [
      'merged.txt',
      'GET /orders | auth required (token)\nGET /orders | open\n',
      'merged.txt: GET /orders is there twice. Write it again: framework access --write merged.txt',
    ],
    ['conflict.txt', '<<<<<<< HEAD\nGET /orders | open\n', 'conflict.txt: line 1 does not have the form'],
    ['wrong.json', '{', 'wrong.json: it is not JSON'],
    ['other.json', '[{ "way": 7 }]', 'other.json: it is not a list of { way, facts }'],
  ])('fails for %s', async (name, content, message) => {
    const ended = await access(usual, ['--check', name], content === undefined ? {} : { [name]: content })
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
  })

  test('is 1 if the application ends the process, whatever its code means here', async () => {
    const exits = makeProject({ 'server.js': 'process.exit(3)\n' })
    const { code, stderr } = await frameworkAlone(exits.folder, ['access', '--check'])
    exits.remove()
    expect([code, stderr]).toEqual([1, 'server.js ended the process with code 3 while it was imported\n'])
  })

  test.each([
    [['--check', '--write'], '--check compares the file, --write or --out writes it'],
    [['access.txt'], 'pass --check or --write as well'],
    [['--check', '--json'], '--json'],
    [['one.txt', '--out', 'two.txt'], 'access one.txt: --out two.txt names another file'],
  ])('%j is a typing mistake', async (args, message) => {
    expect(await access(usual, args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })
})

test.each(
  [...Object.values(catalog), ...core].map(({ plugin }) => [plugin.name, plugin.access] as const),
)('the plugin %s says who can reach what through it', (_, said) => expect(said).toBeDefined())
