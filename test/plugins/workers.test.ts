import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { cron as job, MemoryStorageProvider, mqtt as messages, Server, type ServerOptions } from '../../index.ts'
import { RouteCollection } from '../../kernel/index.ts'
import { memoryCronLock } from '../../plugins/cron/index.ts'
import { setSupervisor } from '../../plugins/shared/environment/supervisor.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../support/mosquitto.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  Reflect.deleteProperty(globalThis, Symbol.for('framework.supervisor'))
})

type Plugins = NonNullable<ServerOptions['plugins']>

const made = (plugins: Plugins, routes = new RouteCollection()) =>
  new Server({ port: 0, host: '127.0.0.1', drainWindow: 0, router: routes, plugins } as ServerOptions)

const secret = 'x'.repeat(32)
const storage = { providers: { files: new MemoryStorageProvider() }, defaultProvider: 'files' }

describe('data in the memory of one process', () => {
  test.each<[string, Plugins, RegExp]>([
    ['sessions', { session: { secret } }, /sessions are kept .* Set session\.store/],
    ['requests are counted', { rateLimit: true }, /requests are counted .* Set rateLimit\.store/],
    ['locks', { locks: true }, /locks are kept .* Set locks\.store/],
    ['objects', { storage }, /objects are kept .* Give storage\.providers/],
    [
      'sockets of an address',
      { websocket: { maxSocketsPerAddress: 10 } },
      /the sockets of each address are counted .* Leave out websocket\.maxSocketsPerAddress/,
    ],
  ])('fails the boot of one of several workers: %s', async (_what, plugins, message) => {
    vi.stubEnv('FRAMEWORK_WORKER', '1/2')
    const failure = await made(plugins)
      .ready()
      .catch((error: Error) => error)
    expect(failure).toMatchObject({ cause: { code: 'WorkerMemoryError' } })
    expect((failure as Error).message).toMatch(message)
    expect((failure as Error).message).toContain('worker 1 of 2')
    vi.stubEnv('FRAMEWORK_WORKER', '1/1')
    await using single = made(plugins)
    await single.ready()
  })

  test('is named for every plugin, in one error', async () => {
    vi.stubEnv('FRAMEWORK_WORKER', '1/2')
    const failure = await made({ session: { secret }, cors: true, rateLimit: true, storage })
      .ready()
      .catch((error: Error) => error)
    expect(failure).toMatchObject({
      code: 'SeveralPluginsError',
      errors: [1, 2, 3].map(() => ({ cause: { code: 'WorkerMemoryError' } })),
    })
    const { message } = failure as Error
    expect(message).toMatch(/^3 plugins cannot run here:\n- /)
    for (const name of ['session', 'rateLimit', 'storage']) expect(message).toContain(`the plugin "${name}"`)
  })

  test('cached responses are for several workers where nothing invalidates them', async () => {
    vi.stubEnv('FRAMEWORK_WORKER', '1/2')
    const tagged = new RouteCollection()
    tagged.get('/books', { cache: { tags: ['books'] } }, () => [])
    await expect(made({ cache: true }, tagged).ready()).rejects.toThrow('Set cache.provider to "redis"')
    const plain = new RouteCollection()
    plain.get('/books', { cache: true }, () => [])
    await using server = made({ cache: true }, plain)
    await server.ready()
    const cache = server.services.get('cache')
    await expect(cache.invalidate(['books'])).rejects.toMatchObject({ code: 'WorkerMemoryError' })
    await expect(cache.invalidatePattern('*')).rejects.toMatchObject({ code: 'WorkerMemoryError' })
  })
})

// Other tests of the suite merge the topics that they use.
declare module '../../plugins/mqtt/types.ts' {
  interface MqttTopics {
    'workers/own': number
    'workers/one': string
    'workers/late': string
    'workers/each': string
    'workers/waits': number
  }
}

/** Makes this process the second of two workers; the function that it gives makes it lead. */
function second(of = 2): () => void {
  vi.stubEnv('FRAMEWORK_WORKER', `${of}/${of}`)
  const waiting: (() => void)[] = []
  let leads = false
  const reported = { listens() {}, failed() {}, async closed() {} }
  setSupervisor({
    share: async (_host, port) => port,
    starting: () => reported,
    get leads() {
      return leads
    },
    onLead: (run) => void waiting.push(run),
    ask: () => Promise.reject(new Error('no worker is running at the moment')),
    answer() {},
  })
  return () => {
    leads = true
    for (const run of waiting.splice(0)) run()
  }
}

describe('scheduled jobs', () => {
  test('run in the worker that leads; another one says when that does not answer', async () => {
    const lead = second()
    const handle = job('0 0 3 * * *', { name: 'nightly' })
    await handle.start(() => {})
    await using server = made({ cron: { crons: [], ui: { middlewares: [(_req, _res, next) => next()] } } })
    const { port } = await server.listen()
    const url = `http://127.0.0.1:${port}/crons`
    expect(server.services.get('cron').jobs()).toEqual([])
    expect(await (await fetch(url)).text()).toContain(
      'Worker 2 of 2 responded. The jobs run in another worker, which does not respond',
    )
    const headers = { 'sec-fetch-site': 'same-origin' }
    expect((await fetch(`${url}?run=nightly`, { method: 'POST', headers })).status).toBe(503)
    lead()
    await expect.poll(() => server.services.get('cron').jobs()).toMatchObject([{ name: 'nightly' }])
    expect(await (await fetch(url)).text()).not.toContain('has answered')
    await handle.destroy()
  })

  test.each([
    [
      'run in every worker with a lock',
      { claim: async () => 'taken' as const, renew: async () => true, release: async () => {} },
      1,
    ],
    ['run in the one that leads with a lock of one process', memoryCronLock(), 0],
  ])('%s', async (_title, lock, count) => {
    second()
    const handle = job('0 0 3 * * *', { name: 'locked' })
    await handle.start(() => {})
    await using server = made({ cron: { crons: [], lock } })
    await server.listen()
    expect(server.services.get('cron').jobs()).toHaveLength(count)
    await handle.destroy()
  })
})

describe('messages of a broker', () => {
  test('a client id in several workers fails the boot', async () => {
    second()
    const failure = await made({ mqtt: { connect: { clientId: 'shop' } } })
      .ready()
      .catch((error: Error) => error)
    expect(failure).toMatchObject({ cause: { code: 'MqttWorkersError' } })
    expect((failure as Error).message).toContain('clientId is "shop" in worker 2 of 2')
  })

  test('in memory each worker receives its own messages', async () => {
    second()
    const seen: unknown[] = []
    const handle = messages.subscribe('workers/own', (message) => void seen.push(message))
    await using server = made({ mqtt: { connect: { provider: 'memory' }, subscribe: true } })
    await server.listen()
    await messages.publish('workers/own', 1)
    await expect.poll(() => seen).toEqual([1])
    await handle.unsubscribe()
  })
})

describe.runIf(hasMosquitto)('messages of a broker that workers share', () => {
  let broker: Mosquitto
  beforeAll(async () => {
    broker = await startMosquitto()
  })
  afterAll(() => broker.stop())

  test('are handled in the worker that leads, and those of a group in each', async () => {
    const lead = second()
    const seen: unknown[] = []
    const handles = ['workers/one', '$share/all/workers/each'].map((topic) =>
      messages.subscribe(topic as string, (message: unknown) => void seen.push(message)),
    )
    await using server = made({ mqtt: { connect: { url: broker.url }, subscribe: true } })
    await server.listen()
    const later = server.services.get('mqtt').subscribe('workers/late', (message) => void seen.push(message))
    await later
    const publish = async () => {
      for (const topic of ['one', 'late', 'each'])
        await messages.publish(`workers/${topic}` as string, topic, { qos: 1 })
    }
    await publish()
    await expect.poll(() => seen).toEqual(['each'])
    lead()
    await vi.waitFor(async () => {
      seen.length = 0
      await publish()
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(seen.sort()).toEqual(['each', 'late', 'one'])
    }, 20_000)
    for (const handle of handles) await handle.unsubscribe()
  })

  test('with a client id the worker connects when the one before it has ended, and messages wait for that', async () => {
    const lead = second(1)
    await using server = made({ mqtt: { connect: { url: broker.url, clientId: 'workers' } } })
    await server.listen()
    const service = server.services.get('mqtt')
    expect(service.isConnected).toBe(false)
    const published = messages.publish('workers/waits', 1, { qos: 1 })
    lead()
    await published
    expect(service.isConnected).toBe(true)
  })
})
