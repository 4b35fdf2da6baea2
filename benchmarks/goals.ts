import { memoryTitle } from './load/report.ts'
import { serverSuites } from './load/suites.ts'
import { microSuites } from './micro/suites.ts'

/** The target ratio of a row in a table: how many times cheaper it should be than another row. */
export interface Goal {
  /** The heading of the table. */
  readonly table: string
  readonly row: string
  readonly against: string
  readonly ratio: number
}

const goal = (suite: keyof typeof serverSuites, against: string, ratio: number, row = 'framework'): Goal => ({
  table: serverSuites[suite].title,
  row,
  against,
  ratio,
})

/** At most 1.15 times what the library costs by hand. */
const service = (suite: keyof typeof microSuites, ...groups: readonly string[]): Goal[] =>
  groups.map((group) => byHand(suite, group, 1.15))

const byHand = (suite: keyof typeof microSuites, group: string, most: number): Goal => ({
  table: microSuites[suite].title,
  row: `${group}: framework`,
  against: 'by hand',
  ratio: 1 / most,
})

/** At most 1.15 times the CPU time per message and 1.3 times the memory per socket. */
const sockets = (against: string): Goal[] => [
  goal('sockets', against, 1 / 1.15),
  { table: memoryTitle(serverSuites.sockets.title), row: 'framework', against, ratio: 1 / 1.3 },
]

/** At most these times the cost of the same server without it. */
const telemetry: readonly Goal[] = [
  goal('telemetry', 'framework', 1 / 1.15, 'framework, telemetry, no SDK'),
  goal('telemetry', 'framework', 1 / 1.15, 'framework, telemetry, nothing sampled'),
  goal('telemetry', 'framework', 1 / 1.25, 'framework, telemetry, 1 % sampled'),
  goal('telemetry', 'framework', 1 / 1.6, 'framework, telemetry, all sampled'),
  goal('telemetry', 'fastify, telemetry, all sampled', 1.3, 'framework, telemetry, all sampled'),
  goal('telemetry', 'framework', 1 / 2, 'framework, inspector'),
]

const node: readonly Goal[] = [
  goal('hello', 'fastify', 1.2),
  goal('hello', 'raw', 1.05),
  goal('get-params', 'fastify', 1.2),
  goal('serialised-get', 'fastify', 1.2),
  goal('validated-post', 'fastify', 1.25),
  goal('full-stack', 'fastify', 2),
  goal('list-1000', 'fastify', 1.6),
  goal('list-1000', 'hono', 1.05),
  goal('pipelined-10', 'fastify', 2.3),
  { table: microSuites.inject.title, row: 'GET hello: framework', against: 'fastify.inject', ratio: 15 },
  // The first response in 0.85 of the time, and with 0.95 of the memory.
  goal('boot', 'fastify', 1.18),
  goal('memory', 'fastify', 1.05),
  goal('graphql-hello', 'mercurius', 1.4),
  goal('graphql-hello', 'mercurius, jit', 1.3, 'framework, jit'),
  goal('graphql-100', 'mercurius', 1.2),
  goal('graphql-100', 'mercurius, jit', 1.3, 'framework, jit'),
  // A list and a loop have no attempts, ids, priorities or time limits.
  byHand('queues', 'publish and consume, memory', 1.5),
  ...service('queues', 'publish and consume, BullMQ', 'publish and consume, pg-boss'),
  ...service('websocket', 'websocket, echo', 'websocket, broadcast to 100'),
  ...service('mqtt', 'publish and handle, QoS 0', 'publish and handle, QoS 1'),
  ...service('cache', 'hit, memory', 'miss, memory', 'hit, Redis', 'miss, Redis'),
  ...service('rate-limit', 'memory', 'Redis'),
  ...service('session', 'read, memory', 'save, memory', 'read, Redis', 'save, Redis'),
  ...service('storage', 'put, disk', 'get, disk', 'put, S3', 'get, S3'),
  ...service('mail', 'send, memory', 'send, SMTP'),
  ...service('compression', 'gzip, 2 KB', 'gzip, 64 KB', 'br, 2 KB', 'br, 64 KB'),
  ...sockets('ws'),
  goal('post-json', 'raw', 1 / 1.05),
  goal('post-16k', 'raw', 1 / 1.05),
  goal('post-1m', 'raw', 1 / 1.05),
  goal('upload', 'raw', 1 / 1.1),
  goal('static-file', 'fastify', 1 / 1.15),
  goal('static-file', 'raw', 1 / 1.15),
  ...telemetry,
]

/** The goals by the name of the runtime; for Node.js, the name includes the version. */
export const goals: Readonly<Record<string, readonly Goal[]>> = {
  'Node 20': telemetry,
  'Node 24': node,
  'Node 26': node,
  Bun: [
    goal('hello', 'native', 0.97),
    goal('hello', 'elysia', 1),
    goal('validated-post', 'elysia', 1.3),
    ...sockets('native'),
  ],
  Deno: [goal('hello', 'native', 0.97), goal('hello', 'hono', 1), ...sockets('native')],
}
