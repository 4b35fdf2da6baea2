import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const run = promisify(execFile)
let folder: string
let lines: Record<string, string>

const app = `
import { bullmqQueue, RouteCollection, Server } from ${JSON.stringify(join(import.meta.dirname, '../dist/index.js'))}

const logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {}, child: () => logger }
const serverWith = (options) => new Server({ router: new RouteCollection(), logger, ...options })
const boot = (options) => serverWith(options).ready()
const store = { url: 'redis://127.0.0.1:1' }
const tries = {
  async helmet() {
    const server = serverWith({ plugins: { helmet: true } })
    server.get('/', () => 'ok')
    return (await server.inject.get('/')).headers()['x-frame-options']
  },
  'helmet, wrong': () => boot({ plugins: { helmet: { contentSecurityPolicy: { directives: { defaultSrc: ["a;b"] } } } } }),
  cache: () => boot({ plugins: { cache: { provider: 'redis' } } }),
  rateLimit: () => boot({ plugins: { rateLimit: { store: { redis: store } } } }),
  locks: () => boot({ plugins: { locks: { store: { redis: store } } } }),
  'locks in Postgres': () => boot({ plugins: { locks: { store: 'postgres' } } }),
  websocket: () => boot({ plugins: { websocket: true } }),
  graphql: () => boot({ plugins: { graphql: { schema: { typeDefs: 'type Query { a: Int }', resolvers: {} } } } }),
  async bullmq() {
    const orders = bullmqQueue('orders')
    await boot({ background: { queues: { config: { bullmq: { connection: store.url } } } } })
    await orders.publish(1)
  },
}
for (const [name, attempt] of Object.entries(tries)) {
  const outcome = await Promise.resolve().then(attempt).catch((error) => error.message)
  console.log(JSON.stringify([name, String(outcome)]))
}
process.exit(0)
`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framework-bundled-'))
  await writeFile(join(folder, 'app.ts'), app)
  await build({
    entryPoints: [join(folder, 'app.ts')],
    outfile: join(folder, 'app.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: Object.keys(manifest.peerDependencies),
    // Packages in CommonJS call it.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url)',
    },
    logLevel: 'error',
  })
  const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: folder })
  lines = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, string]),
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a bundle contains the packages that the framework depends on', () => {
  expect(lines.helmet).toBe('SAMEORIGIN')
  expect(lines['helmet, wrong']).toContain('the option "plugins.helmet" cannot be used')
})

test.each([
  ['cache', 'ioredis'],
  ['rateLimit', 'ioredis'],
  ['locks', 'ioredis'],
  ['locks in Postgres', 'pg'],
  ['websocket', 'ws'],
  ['graphql', 'graphql'],
  ['bullmq', 'bullmq'],
])('an optional package that is not installed next to the bundle is named: %s', (feature, name) => {
  expect(lines[feature]).toMatch(
    new RegExp(`needs the packages? .*"${name}".* not installed\\. Add (it|them): .*${name}`),
  )
})
