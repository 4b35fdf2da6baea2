import { isIn } from './edges.ts'
import type { Project } from './project.ts'

/** Who asks the clock of the machine by name, and why a clock that a test stops must not stop it. */
const ofTheMachine: { readonly [path: string]: string } = {
  'plugins/auth/schemes/keys.ts': 'patience with the server of an issuer',
  'plugins/cache/service.ts': 'patience with computations, while closing',
  'plugins/cache/stores/ask.ts': 'waits for a lock in Redis, which has a clock of its own',
  'plugins/channels/buses/redis-presence.ts': 'renews entries in Redis, which has a clock of its own',
  'plugins/channels/orders.ts': 'waits for Redis to come back',
  'plugins/channels/rooms.ts': 'waits for Redis to come back',
  'plugins/compression/stream.ts': 'sends what a slow source has written, over a socket',
  'plugins/cron/jobs/job.ts': 'measures',
  'plugins/cron/schedule/system-clock.ts': 'is the clock of schedules where no test has one',
  'plugins/cron/service.ts': 'patience with jobs, while closing',
  'plugins/database/database.ts': 'patience with a database',
  'plugins/database/drivers/mysql.ts': 'patience with connections in use, while closing',
  'plugins/database/inbox.ts': 'forgets by the clock of the database',
  'plugins/database/listener.ts': 'patience with a connection that was lost',
  'plugins/database/outbox.ts': 'keeps what it has claimed, by the clock of the database',
  'plugins/database/queries.ts': 'measures',
  'plugins/database/transaction.ts': 'patience with a savepoint that is open',
  'plugins/graphql/execution/execute.ts': 'measures',
  'plugins/health/checks.ts': 'patience with the servers that checks ask',
  'plugins/inspector/activities.ts': 'measures',
  'plugins/inspector/kept.ts': 'collects changes for the next version',
  'plugins/inspector/live.ts': 'paces what it sends to a page',
  'plugins/inspector/processes.ts': 'when processes began, and the time between two reports',
  'plugins/inspector/panels.ts': 'the time between two samples of figures',
  'plugins/inspector/replay.ts': 'patience with a response',
  'plugins/locks/service.ts': 'patience with work under locks, while closing',
  'plugins/log/sink.ts': 'waits for a destination that is slow, while closing',
  'plugins/mailer/mailer.ts': 'patience with emails, while closing',
  'plugins/mailer/provider.ts': 'patience with a mail server',
  'plugins/metrics/listener.ts': 'tries a port again',
  'plugins/metrics/plugin.ts': 'patience with figures of other plugins',
  'plugins/metrics/process.ts': 'measures',
  'plugins/mqtt/links/network.ts': 'waits for a broker to come back',
  'plugins/mqtt/messages/outbox.ts': 'patience with a broker',
  'plugins/mqtt/run.ts': 'patience with handlers, while closing',
  'plugins/mqtt/service.ts': 'waits for another process to end',
  'plugins/mqtt/subscriptions/subscriptions.ts': 'patience with a broker',
  'plugins/overload/gate.ts': 'measures',
  'plugins/overload/plugin.ts': 'measures',
  'plugins/shared/engines': 'patience with engines, which have clocks of their own',
  'plugins/queues/engines.ts': 'patience with engines',
  'plugins/queues/service.ts': 'patience with handlers, while closing',
  'plugins/queues/ui/look.ts': 'patience with engines',
  'plugins/shared/development/loop-delay.ts': 'measures',
  'plugins/shared/development/open-telemetry.ts': 'patience with a collector, while closing',
  'plugins/shared/doctor': 'compares the clock of another machine, and has patience with it',
  'plugins/shared/locks': 'patience with a store, while closing',
  'plugins/shared/stores': 'patience with Redis, and the age of rows',
  'plugins/shared/terminal/lines.ts': 'waits for lines that another process writes',
  'plugins/storage/providers/backend.ts': 'patience with a service',
  'plugins/storage/providers/local-types.ts': 'compares times of files',
  'plugins/testing/clock.ts': 'is the clock of tests',
  'plugins/testing/leaks': 'patience with resources that end, and watches its timers',
  'plugins/testing/outages/outage.ts': 'delays responses of other programs',
  'plugins/testing/mock-socket.ts': 'patience of a test',
  'plugins/testing/settled.ts': 'patience of a test',
  'plugins/websocket/backpressure.ts': 'patience with a socket',
  'plugins/websocket/socket.ts': 'patience with a socket',
  'plugins/websocket/sockets.ts': 'patience with sockets, while closing',
  'plugins/websocket/transport/deno.ts': 'patience with a socket',
  'plugins/workers.ts': 'waits for the supervisor, another process',
}

/** Who asks the process itself. */
const ofTheProcess: { readonly [path: string]: string } = {
  'plugins/contract/calls.ts': 'runs in browsers, without the kernel',
  'plugins/contract/once.ts': 'runs in browsers, without the kernel',
  'plugins/testing/clock.ts': 'waits for the work that stops it',
}

const holds = (names: { readonly [path: string]: string }, path: string) =>
  Object.keys(names).some((name) => path === name || isIn(path, name))

interface Read {
  readonly path: string
  readonly line: number
  readonly what: string
}

const isOfTheMachine = ({ what }: Read) => what === 'systemClock'

const readsOf = ({ modules }: Project): Read[] =>
  [...modules]
    .filter(([path]) => isIn(path, 'plugins'))
    .flatMap(([path, { clocks }]) => clocks.map((clock) => ({ path, ...clock })))

/** Each read of the time of the process by a plugin, and each of the machine's, that has no reason here. */
export function readsOfTheTime(project: Project): string[] {
  return readsOf(project)
    .filter((read) => !holds(isOfTheMachine(read) ? ofTheMachine : ofTheProcess, read.path))
    .map(({ path, line, what }) => `${path}:${line} asks ${what}`)
}

/** The reasons that no file needs any more. */
export function idleReasons(project: Project): string[] {
  const reads = readsOf(project)
  return [
    ...Object.keys(ofTheMachine).map((name) => [name, reads.filter(isOfTheMachine)] as const),
    ...Object.keys(ofTheProcess).map((name) => [name, reads.filter((read) => !isOfTheMachine(read))] as const),
  ].flatMap(([name, those]) => (those.some(({ path }) => path === name || isIn(path, name)) ? [] : [name]))
}
