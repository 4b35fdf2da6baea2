import {
  ArgumentsError,
  CallSite,
  defineErrors,
  type Inject,
  Kernel,
  type Services,
  virtualClock,
} from '../../kernel/index.ts'
import { makeInMemory, type Substitutes, TestedServerError } from '../shared/development/substitutes.ts'
import { option } from '../shared/options/index.ts'
import { runningServer } from '../shared/values/running-server.ts'
import type { OpenWork } from '../shared/work/open-work.ts'
import { MovedClock, type TestClock, testClock } from './clock.ts'
import type { Leak } from './leaks/leak.ts'
import { trackLeaks } from './leaks/track.ts'
import { mockMethods } from './mock-server.ts'
import { recordsOf, type TestRecords } from './records.ts'
import { WorkInProgress } from './settled.ts'

const { RealClockError } = defineErrors({
  RealClockError: () =>
    'the services of this server are real, and their time is that of the machine: there is no clock to move. Leave out services: "real", or do without server.clock',
})

/** Options of `testServer`. */
export interface TestServerOptions {
  /**
   * `'memory'`: everything that the plugins need is in the memory of this process. `'real'`: the services that the options and the environment
   * name. Default `'memory'`.
   */
  readonly services?: 'memory' | 'real'
  /** The time that the clock of a server in memory shows at the start. Default: the present. */
  readonly clock?: Date | string | number
  /** Whether `close()` rejects when timers, sockets, processes or the like that the application made outlive it. Default true. */
  readonly leaks?: boolean
}

/** Options of `settled`. */
export interface SettledOptions {
  /** Milliseconds of the machine's clock that the work has. Default 5000. */
  readonly timeout?: number
}

/** A fake of a service: the members that the test needs. */
export type FakeService<Service> = { readonly [Member in keyof Service]?: Service[Member] }

/** What a server has in addition under test. */
export interface TestMembers extends TestRecords {
  /** The clock of the process, which stands still until the test moves it. Reading it is an error if the services are real. */
  readonly clock: TestClock
  /**
   * Resolves when everything that was begun is over: jobs and what they publish in turn, messages, emails. What waits for the clock, or for a
   * subscriber of another process, is not waited for, and returned.
   *
   * @throws NotSettledError (as a rejection), which names what is still open.
   */
  settled(options?: SettledOptions): Promise<readonly OpenWork[]>
  /**
   * Uses a fake in place of a service, in this server alone: everything that asks for the service gets it. If the plugin says what it needs in
   * memory, as those of the framework do, the members that the fake lacks are those of the service in memory. Call it before the first request.
   *
   * The boot fails if no plugin provides the service.
   *
   * @throws TestedServerError after that; ServiceReadError for a service that some code has read before.
   */
  replace<Name extends keyof Services & string>(name: Name, fake: FakeService<Services[Name]>): void
}

/** A server under test, with its own type. */
export type TestServer<App> = App & TestMembers

/** What `testServer` takes: a server that has not booted, or a module that exports it as `server`. */
export type TestedApp<App> = App | { readonly server: App }

type Made<App> = TestedApp<App> | (() => TestedApp<App> | Promise<TestedApp<App>>)

const testServerOptions = option
  .shape({
    services: option.oneOf('memory', 'real').default('memory'),
    clock: option.value<Date | string | number>('a time', (given) => !Number.isNaN(new Date(given as never).getTime())),
    leaks: option.flag().default(true),
  })
  .typed<TestServerOptions>()

const settledOptions = option.shape({ timeout: option.ms({ min: 1 }).default(5000) }).typed<SettledOptions>()

/**
 * Prepares an application for a test as a whole, in this process: its services are in memory, its jobs, workers and subscriptions run without a
 * socket, and its clock stands still. The application itself stays as it is.
 *
 * It takes a server that has not booted, a module that exports one as `server`, or a function that returns either. Prefer the function:
 * code that reads a service while the server is made then reads the one in memory. The server boots with its first request, `ready()` or `settled()`;
 * closing it gives back the clock. Emails, jobs, messages, objects and sockets are recorded.
 *
 * @throws (as a rejection) ArgumentsError for anything else; TestedServerError for a server that boots or is under test. The boot fails with
 * PluginOutsideError if a plugin reaches outside and has nothing that stands for it.
 * @example
 * const tested = await testServer(() => new Server({ plugins: { queues: true } }))
 * const res = await tested.inject.get('/hello')
 * await tested.settled()
 * tested.jobs.assertCount(0)
 * await tested.close()
 */
export async function testServer<App extends Kernel>(
  app: Made<App>,
  options?: TestServerOptions,
): Promise<TestServer<App>> {
  const { services, clock: start, leaks: isTracking } = testServerOptions.parse(options, 'testServer')
  // What the test itself makes is its own.
  const testFile = fileOf(String(new CallSite()))
  const ignore = ({ plugin, place }: Leak) => plugin === undefined && fileOf(place) === testFile
  const isInMemory = services === 'memory'
  // Before the leaks, which would be followed for ever if there is no clock to take.
  const time = isInMemory ? clockOfServer(start) : undefined
  const leaks = isTracking ? trackLeaks({ ignore }) : undefined
  try {
    const server = await serverOf(app, isInMemory)
    const substitutes = server.settings.substitutes as Substitutes
    substitutes.begin(server, isInMemory)
    // Nothing listens: the hooks run as if it did.
    Object.assign(server.settings, { adapter: withoutSocket, gracefulShutdown: false })
    const stops: (() => void)[] = []
    const work = new WorkInProgress(server)
    const ready = starterOf(server, work, stops)
    const { close, inject } = server
    const started: Inject = async (request) => {
      await ready()
      return inject(request)
    }
    const get = () => {
      if (time === undefined) throw RealClockError()
      return time.clock
    }
    return Object.assign(Object.defineProperty(server, 'clock', { get }) as never, {
      ...recordsOf(server, stops),
      ready,
      inject: Object.assign(started, mockMethods(started)),
      listen: async () => {
        throw TestedServerError(
          'a server under test has no socket, and listens by itself as far as its hooks are concerned. Use inject and ready(), or a server without testServer',
        )
      },
      async settled(given?: SettledOptions) {
        const { timeout } = settledOptions.parse(given, 'settled')
        await ready()
        return work.settled(timeout, isInMemory)
      },
      replace(name: string, fake: unknown) {
        substitutes.replace(server, name, fake)
      },
      async close(...args: []) {
        try {
          await close(...args)
          await leaks?.assertNone(server)
        } finally {
          leaks?.stop()
          for (const stop of stops) stop()
          time?.release()
        }
      },
    }) as TestServer<App>
  } catch (error) {
    leaks?.stop()
    time?.release()
    throw error
  }
}

const fileOf = (place: string) => place.replace(/:\d+:\d+$/, '')

async function serverOf<App extends Kernel>(app: Made<App>, isInMemory: boolean): Promise<App> {
  const make = () => (typeof app === 'function' ? app() : app)
  const made = await (isInMemory ? makeInMemory<TestedApp<App>>(make) : make())
  const server: unknown = made instanceof Kernel ? made : (made as { server?: unknown } | undefined)?.server
  if (server instanceof Kernel) return server as App
  throw ArgumentsError(
    'testServer',
    'a server that has not booted, a module that exports one as "server", or a function that returns either',
  )
}

/** Boots the server and runs its listen hooks, once. A hook that sends a request to its own server does not wait for itself. */
function starterOf(server: Kernel, work: WorkInProgress, stops: (() => void)[]): () => Promise<void> {
  const { listen } = server
  const boot = server.ready.bind(server)
  let starting: Promise<void> | undefined
  const start = async () => {
    await boot()
    ;(server.settings.substitutes as Substitutes).checkFakes(server)
    work.follow(stops)
    await listen()
  }
  return () => {
    if (runningServer() === server) return boot()
    starting ??= start()
    return starting
  }
}

const withoutSocket: Extract<Kernel['settings']['adapter'], object> = {
  name: 'none',
  listen: async ({ host, port }) => ({ host, port }),
  connections: () => 0,
  stop: async () => {},
  cut: () => 0,
}

/** The clock of the servers under test, and what gives it back for each. */
let shared: TestClock | undefined
const users = new Set<() => void>()

/** Gives a server under test the clock of the process: one that the test has made, or that of other servers, or another one. */
function clockOfServer(start: Date | string | number | undefined): { clock: TestClock; release: () => void } {
  const own = virtualClock()
  if (own instanceof MovedClock && own !== shared && start === undefined) return { clock: own, release() {} }
  if (own === undefined || start !== undefined) shared = testClock(start)
  const clock = shared!
  const release = () => {
    if (!users.delete(release) || users.size > 0) return
    shared = undefined
    clock.restore()
  }
  users.add(release)
  return { clock, release }
}
