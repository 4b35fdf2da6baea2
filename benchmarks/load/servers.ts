import { hasNginx, nginxTemplate } from '../support/nginx.ts'
import type { RuntimeKind } from '../support/runtime.ts'
import type { Exchange } from './probe.ts'

/** A server file of a stage, and the scenario that it serves. */
export interface ServerFile {
  /** A file of the stage. */
  readonly file: string
  readonly scenario: string
  /** What it is asked, if not what the suite asks. */
  readonly targets?: Exchange['targets']
  /** How many more connections it has, which have sent one request each and stay open. */
  readonly idle?: number
}

/** What a server of a suite is asked. */
export const exchangeOf = ({ targets }: Pick<ServerFile, 'targets'>, exchange: Exchange): Exchange =>
  targets === undefined ? exchange : { ...exchange, targets }

/** Servers by their names in the tables. */
export type ServerFiles = Readonly<Record<string, ServerFile>>

const filesOf = (scenario: string, files: Readonly<Record<string, string>>): ServerFiles =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, { file, scenario }]))

const framework = 'servers/framework.mjs'

/** The servers in the HTTP scenarios, by the kind of runtime. */
const http = {
  node: {
    framework,
    raw: 'servers/raw.mjs',
    fastify: 'peers/fastify.mjs',
    hono: 'peers/hono.mjs',
    elysia: 'peers/elysia.mjs',
    h3: 'peers/h3.mjs',
    express: 'peers/express.mjs',
  },
  bun: {
    framework,
    native: 'servers/bun.mjs',
    'native, fetch': 'servers/web.mjs',
    elysia: 'peers/elysia.mjs',
    hono: 'peers/hono.mjs',
  },
  deno: { framework, native: 'servers/web.mjs', hono: 'peers/hono.mjs' },
} as const satisfies Record<RuntimeKind, Record<string, string>>

export const httpServers = (kind: RuntimeKind, scenario: string): ServerFiles => filesOf(scenario, http[kind])

export const bootServers = (kind: RuntimeKind): ServerFiles => ({
  ...httpServers(kind, 'hello'),
  ...filesOf('hello', {
    'framework, 30 plugins': 'servers/framework-thirty.mjs',
    'framework, 100 plugins': 'servers/framework-plugins.mjs',
  }),
  ...(kind === 'node' ? filesOf('hello', { 'fastify, 100 plugins': 'peers/fastify-plugins.mjs' }) : {}),
})

/** On Node.js, only the two closest peers: a million requests take a quarter of a minute for each server. */
export const memoryServers = (kind: RuntimeKind): ServerFiles =>
  Object.fromEntries(
    Object.entries(httpServers(kind, 'hello')).filter(
      ([name]) => kind !== 'node' || ['framework', 'raw', 'fastify', 'hono'].includes(name),
    ),
  )

/**
 * The same response without telemetry, with it and no SDK, and with SDKs that sample some requests and export nothing; a span by hand, which
 * is the least that the SDK costs; and the inspector.
 */
export const telemetryServers = (kind: RuntimeKind): ServerFiles => ({
  framework: { file: framework, scenario: 'hello' },
  ...Object.fromEntries(
    [
      ...['no SDK', 'nothing sampled', '1 % sampled', 'all sampled'].map((sampled) => `telemetry, ${sampled}`),
      ...['nothing sampled', 'all sampled'].map((sampled) => `by hand, ${sampled}`),
      'inspector',
    ].map((name) => [
      `framework, ${name}`,
      { file: 'servers/framework-telemetry.mjs', scenario: name.replace(',', '').replace('by hand', 'by-hand') },
    ]),
  ),
  ...(kind === 'node'
    ? { 'fastify, telemetry, all sampled': { file: 'peers/fastify-telemetry.mjs', scenario: 'all sampled' } }
    : {}),
})

/** The same answer with and without the cache. */
export const cacheServers = (): ServerFiles => ({
  framework: { file: framework, scenario: 'cached' },
  'framework, no cache': { file: framework, scenario: 'hello' },
})

/** Servers that serve a file. nginx is measured where it is installed. */
export const fileServers = (kind: RuntimeKind): ServerFiles =>
  kind === 'node'
    ? filesOf('file', {
        framework,
        raw: http.node.raw,
        fastify: http.node.fastify,
        ...(hasNginx ? { nginx: nginxTemplate } : {}),
      })
    : {}

/** Servers that receive a form: the plugin, and busboy, which it uses. */
export const uploadServers = (kind: RuntimeKind): ServerFiles =>
  kind === 'node' ? filesOf('upload', { framework, raw: http.node.raw }) : {}

/** One process, and several, started through the command line or by hand. */
export const workersServers =
  (scenario: string) =>
  (kind: RuntimeKind): ServerFiles =>
    kind === 'node'
      ? Object.fromEntries(
          [
            ['one process', 'process 1'],
            ['start, 1 worker', 'start 1'],
            ['start, 2 workers', 'start 2'],
            ['node:cluster by hand, 2 workers', 'cluster 2'],
          ].map(([name, how]) => [name, { file: 'servers/workers.mjs', scenario: `${scenario} ${how}` }]),
        )
      : {}

/** Websocket servers: the framework, and either the library that it uses or the runtime's own server. */
export const socketServers = (kind: RuntimeKind): ServerFiles =>
  Object.fromEntries(
    Object.entries({ framework: 'framework', ...(kind === 'node' ? { ws: 'ws' } : { native: kind }) }).map(
      ([name, scenario]) => [name, { file: 'servers/sockets.mjs', scenario }],
    ),
  )

export const graphqlServers = (kind: RuntimeKind): ServerFiles =>
  kind === 'node'
    ? {
        framework: { file: 'servers/graphql.mjs', scenario: 'plain' },
        'framework, jit': { file: 'servers/graphql.mjs', scenario: 'jit' },
        mercurius: { file: 'peers/mercurius.mjs', scenario: 'plain' },
        'mercurius, jit': { file: 'peers/mercurius.mjs', scenario: 'jit' },
        yoga: { file: 'peers/graphql-yoga.mjs', scenario: 'plain' },
        apollo: { file: 'peers/apollo.mjs', scenario: 'plain' },
        'graphql-http': { file: 'peers/graphql-http.mjs', scenario: 'plain' },
      }
    : {}

/** Whether a server uses the packages of `benchmarks/peers`. */
export const isPeer = ({ file }: ServerFile): boolean => file.startsWith('peers/')

const httpPackages = {
  node: [
    'fastify',
    '@fastify/cors',
    '@fastify/helmet',
    '@fastify/otel',
    '@fastify/static',
    'hono',
    '@hono/node-server',
    '@hono/zod-validator',
    'elysia',
    '@elysia/node',
    'elysia-helmet',
    'h3',
    'express',
    'pino-http',
    'mercurius',
    'graphql-yoga',
    '@apollo/server',
    'graphql-http',
    'graphql',
    'zod',
  ],
  bun: ['elysia', 'elysia-helmet', 'hono', '@hono/zod-validator', 'zod'],
  deno: ['hono', '@hono/zod-validator', 'zod'],
} as const satisfies Record<RuntimeKind, readonly string[]>

/** The packages whose versions are listed for readers. */
export const packagesOf = (kind: RuntimeKind): readonly string[] => httpPackages[kind]
