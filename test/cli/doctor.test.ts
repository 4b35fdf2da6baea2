import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isIn } from '../../cli/doctor/versions.ts'
import type { Reported } from '../../cli/doctor/view.ts'
import { clockFinding, readingOf } from '../../plugins/shared/doctor/clock.ts'
import { framework } from '../support/cli/fresh.ts'
import { type Ended, installAlone, makeProject, type Project, root, runIn } from '../support/cli.ts'
import { freePort } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

const made: Project[] = []
afterAll(() => {
  for (const project of made) project.remove()
})

function project(files: Readonly<Record<string, string>>, packages: readonly string[] = []): Project {
  const one = makeProject(files, packages)
  made.push(one)
  return one
}

/** By the copy of the project itself, as its script does. */
const doctor = ({ folder }: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  framework(folder, ['doctor', ...args], { ...unset, ...env })
const unset = { NODE_ENV: undefined, REDIS_URL: undefined, DATABASE_URL: undefined }

/** One project for several applications. */
const shared = Promise.resolve().then(() => project({}, ['ioredis']))

const findingsOf = ({ stdout, stderr }: Ended): readonly Reported[] => {
  expect(stdout, stderr).toMatch(/^\{/)
  return (JSON.parse(stdout) as { findings: Reported[] }).findings
}

const codesOf = (ended: Ended): string[] => findingsOf(ended).map(({ code }) => code)

/** Leaves packages out of those that the framework finds. */
function without(names: readonly string[], project: Project): void {
  installAlone(project)
  const packages = join(project.folder, 'node_modules/framework/node_modules')
  rmSync(packages)
  mkdirSync(packages)
  for (const one of readdirSync(join(root, 'node_modules'))) {
    if (!names.includes(one) && !one.startsWith('.'))
      symlinkSync(join(root, 'node_modules', one), join(packages, one), 'junction')
  }
}

function gitIn({ folder }: Project, ...commands: readonly string[][]): void {
  for (const args of commands) expect(spawnSync('git', args, { cwd: folder }).status, args.join(' ')).toBe(0)
}

const privateKey = `-----BEGIN ${'PRIVATE'} KEY-----\nMC4CAQ\n-----END ${'PRIVATE'} KEY-----\n`

describe.concurrent('seeded problems are found once, and nothing else', () => {
  test('in development: packages, the repository, secrets, unused plugins', async () => {
    const app = project({
      'package.json': JSON.stringify({
        name: 'app',
        type: 'module',
        engines: { node: '>=99' },
        dependencies: { framework: '*', brings: '*', ejs: '*' },
      }),
      'src/server.ts': `import { bullmqQueue, definePlugin, Server } from 'framework'
bullmqQueue('orders')
const marks = definePlugin({ name: 'marks', routeOptions: { mark: (given: unknown) => given }, setup() {} })
export const server = new Server({
  plugins: {
    cookie: { secret: 'short' },
    session: { secret: ['0123456789abcdef', 'old'] },
    upload: true,
    websocket: true,
    cache: true,
    channels: true,
    cron: { crons: [] },
    queues: true,
    marks: marks(),
  },
})
server.get('/', () => 'hello')
`,
      '.gitignore': 'node_modules\n',
      '.env': 'SESSION_SECRET=0123456789abcdef\nPORT=3000\n',
      '.env.production': 'DATABASE_URL=postgres://app:hunter2@db/app\n',
      '.env.staging': 'PORT=3000\n',
      '.env.example': 'SESSION_SECRET=\n',
      'docker/.env': 'DB_PASSWORD=x\n',
      'tools/.env': 'PORT=3000\n',
      'test/.env': 'DB_PASSWORD=x\n',
      'keys/server.pem': privateKey,
      'test/fixtures/server.pem': privateKey,
      'node_modules/brings/package.json': '{ "name": "brings", "peerDependencies": { "framework": "*" } }',
      'node_modules/brings/node_modules/framework/package.json': '{ "name": "framework", "version": "0.0.9" }',
      'node_modules/ejs/package.json': '{ "name": "ejs", "version": "2.7.4" }',
    })
    without(['node-schedule', 'ejs'], app)
    gitIn(app, ['init', '-q'], ['add', '.'], ['rm', '-q', '--cached', '.env.production'])
    const ended = await doctor(app, ['--json'])
    expect(codesOf(ended).sort()).toEqual([
      'application.unused-plugin',
      'application.unused-plugin',
      'cache.unused',
      'channels.unused',
      'cookie.secret-short',
      'git.env-file',
      'git.env-file',
      'git.env-file',
      'git.env-not-ignored',
      'git.private-key',
      'package.missing',
      'package.two-copies',
      'package.version',
      'queues.not-configured',
      'runtime.version',
      'session.secret-short',
      'websocket.unused',
    ])
    const found = findingsOf(ended)
    const of = (code: string) => found.filter((one) => one.code === code)
    expect(of('package.missing')[0]).toMatchObject({
      level: 'error',
      problem: expect.stringContaining('"node-schedule"'),
      remedy: expect.stringMatching(/^Add it: npm install node-schedule@2$/),
    })
    expect(of('git.env-file').map(({ level, problem }) => [level, problem])).toEqual([
      ['error', '.env is in the repository, with SESSION_SECRET'],
      ['error', 'docker/.env is in the repository, with DB_PASSWORD'],
      ['warning', expect.stringContaining('.env.staging')],
    ])
    expect(of('git.env-not-ignored')[0]?.problem).toContain('.env.production')
    expect(of('application.unused-plugin').map(({ problem }) => problem)).toEqual([
      'nothing uses the plugin marks: no route has its option mark',
      'nothing uses the plugin upload: no route takes a body',
    ])
    expect(found.map(({ problem, remedy }) => problem + remedy).join()).not.toMatch(/hunter2|0123456789abcdef/)
    expect(ended.code).toBe(1)
  })

  test('in production: memory, public pages, missing parts; a refused boot is one of them', async () => {
    const app = project({
      'package.json': '{ "name": "app", "type": "module", "scripts": { "start": "framework start --workers 4" } }',
      'src/server.ts': `import { channel, memoryQueue, MemoryStorageProvider, router, Server } from 'framework'
memoryQueue('orders')
router.ws('/live', { channels: [channel('news', { join: () => true })] }, {})
router.get('/books', { cache: { ttl: 60 } }, () => 'books')
export const server = new Server({
  plugins: {
    trustProxy: { trustedProxies: true },
    metrics: true,
    rateLimit: true,
    session: { secret: '0123456789abcdef', cookie: { secure: false } },
    locks: true,
    storage: { providers: { files: new MemoryStorageProvider() } },
    websocket: true,
    channels: true,
    cache: true,
    openapi: { ui: false },
    asyncapi: true,
    graphql: { schema: { typeDefs: 'type Query { hello: String }' }, graphiql: true },
    cron: { crons: [], ui: true },
    queues: true,
    mqtt: { connect: { provider: 'memory' }, subscribe: false },
  },
})
`,
    })
    gitIn(app, ['init', '-q'], ['add', 'src'])
    const ended = await doctor(app, ['--json', '--production'])
    expect(codesOf(ended).sort()).toEqual([
      'application.no-cors',
      'application.no-helmet',
      'asyncapi.public',
      'cache.memory-store',
      'channels.memory-store',
      'cron.no-lock',
      'graphql.public-schema',
      'locks.memory-store',
      'metrics.public',
      'mqtt.memory-broker',
      'openapi.public',
      'queues.memory',
      'rateLimit.memory-store',
      'session.cookie-insecure',
      'session.memory-store',
      'session.secret-in-repository',
      'storage.memory-provider',
      'trustProxy.everyone',
      'trustProxy.keep-alive',
    ])
  })

  test('checks of plugins run in each scope, and their mistakes are reported', async () => {
    const port = await freePort()
    const app = await shared
    app.write({
      'src/scopes.ts': `import { definePlugin, Server } from 'framework'
const check = (code: string, more: object) => ({ code: 'shop.' + code, level: 'warning' as const, ...more })
const shop = definePlugin({
  name: 'shop',
  provide: (settings: { name: string }) => ({ shop: settings.name }),
  doctor: async () => [
    check('closed', { find: ({ settings, services, booted }: any) =>
      ({ problem: settings.name + ' ' + services.get('shop') + ' ' + booted, remedy: 'Open it' }) }),
    check('twice', { find: () => [1, 2].map((one) => ({ problem: 'p' + one, remedy: 'r', about: 'it' })) }),
    check('fine', { find: () => undefined }),
    check('only-in-production', { production: true, find: () => { throw new Error('it is development') } }),
    check('broken', { find: () => { throw new Error('no till') } }),
    check('far', { network: true, find: () => Promise.reject(new Error('no route to shop')) }),
  ] as any,
})
const odd = definePlugin({ name: 'odd', doctor: async () => [{ code: 'nonsense', level: 'hint', find() {} }] as any, setup() {} })
const other = definePlugin({ name: 'other', scoped: true, setup: (ctx) => ctx.register(shop({ name: 'b' })) })
export const server = new Server({
  plugins: {
    session: { secret: '0123456789abcdef', store: { redis: 'redis://:hunter2@127.0.0.1:${port}' } },
    shop: shop({ name: 'a' }),
    odd: odd(),
    other: other(),
  },
})
server.get('/', () => 'hello')
`,
    })
    const ended = await doctor(app, ['--entry', 'src/scopes.ts', '--ignore', 'shop.twice, shop.tvice', '--strict'])
    const rows = ended.stdout.trimEnd().split('\n')
    expect(rows).toEqual([
      'warning  doctor.check-failed  the checks of the plugin "odd" cannot be used: a check has the code "nonsense"; it takes "<plugin>.<what-is-wrong>". Report it to the author of the plugin',
      'warning  shop.closed          a a true. Open it',
      'warning  doctor.check-failed  shop.broken failed: no till. Report it to its author',
      'warning  shop.closed          b b true. Open it',
      expect.stringMatching(
        /^hint +doctor.not-asked +session.redis-evicts could not be checked: Redis at redis:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED .*--no-network/,
      ),
      expect.stringMatching(/^hint +doctor.not-asked +shop.far could not be checked: no route to shop\. /),
    ])
    expect(ended.stderr).toContain('--ignore: no check of this application has the code shop.tvice\n')
    expect(ended.stderr).toContain('4 warnings, 2 hints, 1 ignored; add --production to check for production\n')
    expect(ended.code).toBe(1)
  })

  test('an application that cannot be imported is a finding; the checks without it run', async () => {
    const app = project({
      'package.json': '{ "name": "app", "type": "module", "engines": { "node": "^99" } }',
      'src/server.ts': `throw new Error('no database')\n`,
    })
    const ended = await doctor(app, ['--json'], { NODE_ENV: 'production' })
    expect(findingsOf(ended)).toEqual([
      expect.objectContaining({ code: 'runtime.version', level: 'error' }),
      expect.objectContaining({ code: 'application.fails', problem: expect.stringContaining('no database') }),
    ])
    expect(JSON.parse(ended.stdout)).toMatchObject({ production: true })
    expect(await doctor(app, ['--entry', 'src/sever.ts'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'the entry src/sever.ts does not exist\n',
    })
  })

  test('a proxy is detected by the address of the server; --no-network asks no one', async () => {
    const app = await shared
    app.write({
      'src/local.ts': `import { definePlugin, Server } from 'framework'
const find = () => ({ problem: 'it was asked', remedy: 'None' })
const far = definePlugin({ name: 'far', doctor: async () => [{ code: 'far.off', level: 'hint', network: true, find }], setup() {} })
export const server = new Server({
  host: '127.0.0.1',
  plugins: { helmet: true, cors: { origin: 'https://a.example' }, far: far() },
})
server.get('/', () => 'hello')
`,
    })
    const ended = await doctor(app, ['--no-network', '--entry', 'src/local.ts'], { NODE_ENV: 'production' })
    expect(ended.stdout.split('\n').map((line) => line.split(/ {2,}/)[1])).toEqual([
      'application.no-rate-limit',
      'application.no-trust-proxy',
      undefined,
    ])
    expect(ended.code).toBe(0)
  })
})

describe.runIf(hasRedis && hasPostgres)('with servers', () => {
  test('eviction is found for each plugin that would lose data, and a clock once', async () => {
    const [redis, postgres] = await Promise.all([startRedis('--maxmemory-policy', 'allkeys-lru'), startPostgres()])
    try {
      const text = `import { bullmqQueue, pgbossQueue, Server } from 'framework'
import { Redis } from 'ioredis'
const { now } = Date
Date.now = () => now() - 3_600_000
bullmqQueue('orders')
pgbossQueue('emails')
const redis = ${JSON.stringify(redis.url)}
const config = { bullmq: { connection: redis }, pgboss: { connectionString: ${JSON.stringify(postgres.url)} } }
export const server = new Server({
  background: { queues: { config } },
  plugins: {
    session: { secret: '0123456789abcdef', store: { redis: { client: new Redis(redis) } } },
    rateLimit: { store: { redis: { url: redis } } },
    locks: { store: { redis } },
    cron: { crons: [], lock: { redis: redis + '/1' } },
  },
})
server.get('/', () => 'hello')
`
      const app = await shared
      app.write({ 'src/connected.ts': text })
      // On its own: its clients connect again and again.
      const command = [process.execPath, 'node_modules/framework/dist/cli/index.js', 'doctor', '--json']
      const found = findingsOf(await runIn(app.folder, [...command, '--entry', 'src/connected.ts'], unset))
      expect(found.map(({ level, code }) => `${level} ${code}`)).toEqual([
        'error queues.redis-evicts',
        'warning redis.clock',
        'warning session.redis-evicts',
        'warning locks.redis-evicts',
        'warning cron.redis-evicts',
        'warning postgres.clock',
      ])
      const clocks = found.filter(({ code }) => code.endsWith('.clock'))
      const hour = /^the clock of (.*) is 3(?:600|599)\.\d s ahead of/
      expect(clocks.map(({ problem }) => hour.exec(problem)?.[1])).toEqual([
        `Redis at ${redis.url}`,
        `Postgres at ${postgres.url.replace('postgres@', '')}`,
      ])
    } finally {
      await Promise.all([redis.stop(), postgres.stop()])
    }
  })
})

describe.concurrent('nothing is found in', () => {
  test('the demo', async () => {
    const env = { NODE_ENV: undefined }
    const ended = await runIn(root, [process.execPath, 'dist/cli/index.js', 'doctor', '--json'], env)
    expect(findingsOf(ended)).toEqual([])
    expect(ended.code).toBe(0)
  })

  test('a new project with everything', async () => {
    const app = project({}, ['mqtt', 'node-schedule', 'graphql', '@graphql-tools'])
    const init = [
      'node_modules/framework/dist/cli/index.js',
      'init',
      '.',
      '-m',
      '-c',
      '-g',
      '--yes',
      '--git',
      '--skip-install',
    ]
    const { code, stderr } = await runIn(app.folder, [process.execPath, ...init])
    expect(code, stderr).toBe(0)
    const ended = await doctor(app, ['--json'])
    expect(findingsOf(ended)).toEqual([])
  })
})

test('a clock does not differ if its distance is within the time of the query, or a second', () => {
  expect(clockFinding('Redis', readingOf(1_900, 1_000, 1_000))).toBeUndefined()
  expect(clockFinding('Redis', readingOf(7_000, 1_000, 9_000))).toBeUndefined()
  expect(clockFinding('Redis', readingOf(-500, 1_000, 1_200))?.problem).toContain('Redis is 1.6 s behind that of')
})

describe('ranges of versions', () => {
  test.each([
    ['20.19.0', '>=20.19', true],
    ['20.18.9', '>=20.19', false],
    ['22.1.0', '^20.19.0 || >=22', true],
    ['21.0.0', '^20.19.0 || >=22', false],
    ['0.8.9', '^0.8.0', true],
    ['0.9.0', '^0.8.0', false],
    ['0.0.4', '^0.0.3', false],
    ['4.1.9', '~4.1.2', true],
    ['4.2.0', '~4.1.2', false],
    ['4.9.0', '4', true],
    ['4.9.0', '4.x', true],
    ['5.0.0', '4.*', false],
    ['7.9.0', '>=3.1.10 <8', true],
    ['8.0.0', '>= 3.1.10 <8', false],
    ['2.0.0', '1.2 - 2', true],
    ['3.0.0', '1.2 - 2', false],
    ['2.9.0', '<=2', true],
    ['2.9.0', '>2', false],
    ['3.0.0', '>2', true],
    ['1.0.0', '*', true],
    ['1.0.0', '', true],
    ['1.0.0', 'workspace:*', undefined],
    ['1.0.0', 'latest || 2', undefined],
  ])('%s in %s', (version, range, expected) => {
    expect(isIn(version, range)).toBe(expected)
  })
})
