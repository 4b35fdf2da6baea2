import { execFile, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { definePlugin, RouteCollection, Server } from 'framework'
import { websocket } from 'framework/plugins/websocket'
import { type Leak, trackLeaks } from 'framework/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { memoryLogger } from '../../support/kernel.ts'
import { root } from '../../support/package/tarball.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'

/** The line of the caller. */
const line = () => Number(/:(\d+):\d+\)?$/.exec(new Error().stack!.split('\n')[2]!)?.[1])

const folder = mkdtempSync(join(tmpdir(), 'framework-leaks-'))
const listener = createServer()
let redis: Awaited<ReturnType<typeof startRedis>>
let postgres: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
})
afterAll(async () => {
  listener.close()
  rmSync(folder, { recursive: true })
  await Promise.all([redis?.stop(), postgres?.stop()])
})

interface Seed {
  readonly kind: Leak['kind']
  /** Makes the resource, and returns the line of that and what ends it. */
  make(): Promise<[number, () => unknown]> | [number, () => unknown]
}

const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port

const seeds: Record<string, Seed> = {
  'a timer': {
    kind: 'timer',
    make() {
      const timer = setTimeout(() => {}, 60_000)
      return [line() - 1, () => clearTimeout(timer)]
    },
  },
  'an interval that keeps no process alive': {
    kind: 'interval',
    make() {
      const timer = setInterval(() => {}, 60_000).unref()
      return [line() - 1, () => clearInterval(timer)]
    },
  },
  'a timer that sets itself again': {
    kind: 'timer',
    async make() {
      let timer: NodeJS.Timeout
      const again = (seen?: () => void) => {
        timer = setTimeout(again, 1, seen).unref()
        seen?.()
        return line() - 2
      }
      const at = again()
      await new Promise<void>((resolve) => {
        clearTimeout(timer)
        again(resolve)
      })
      return [at, () => clearTimeout(timer)]
    },
  },
  'a loop of immediates': {
    kind: 'immediate',
    make() {
      let isOver = false
      const again = () => {
        if (!isOver) setImmediate(again)
        return line() - 1
      }
      return [
        again(),
        () => {
          isOver = true
        },
      ]
    },
  },
  'a server': {
    kind: 'server',
    async make() {
      const server = createServer()
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      return [line() - 1, () => server.close()]
    },
  },
  'a socket': {
    kind: 'socket',
    async make() {
      const socket = connect(portOf(listener), '127.0.0.1')
      await new Promise((resolve) => socket.once('connect', resolve))
      return [line() - 2, () => socket.destroy()]
    },
  },
  'a UDP socket': {
    kind: 'UDP socket',
    async make() {
      const socket = createSocket('udp4')
      await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve))
      return [line() - 2, () => socket.close()]
    },
  },
  'a worker': {
    kind: 'worker',
    make() {
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true })
      return [line() - 1, () => worker.terminate()]
    },
  },
  'a child process': {
    kind: 'child process',
    make() {
      const child = spawn('sleep', ['60'])
      return [line() - 1, () => child.kill()]
    },
  },
  'a file watcher': {
    kind: 'file watcher',
    make() {
      const watcher = watch(folder)
      return [line() - 1, () => watcher.close()]
    },
  },
  'a connection to Redis': {
    kind: 'socket',
    async make() {
      const { Redis } = await import('ioredis')
      const client = new Redis(redis.url)
      await client.ping()
      return [line() - 2, () => client.disconnect()]
    },
  },
  'a connection to Postgres': {
    kind: 'socket',
    async make() {
      const { default: pg } = await import('pg')
      const pool = new pg.Pool({ connectionString: postgres.url, allowExitOnIdle: true, idleTimeoutMillis: 0 })
      await pool.query('select 1')
      return [line() - 1, () => pool.end()]
    },
  },
}

describe('what a plugin leaves is named with the plugin and the line', () => {
  for (const [name, { kind, make }] of Object.entries(seeds)) {
    for (const phase of ['setup', 'ready'] as const) {
      test(`${name}, made in ${phase}`, async () => {
        const leaks = trackLeaks({ patience: 50 })
        let made: [number, () => unknown] | undefined
        const leaky = definePlugin({
          name: 'leaky',
          async setup(ctx) {
            await undefined
            if (phase === 'setup') made = await make()
            else
              ctx.onReady(async () => {
                made = await make()
              })
          },
        })
        const server = new Server({ router: new RouteCollection(), plugins: [leaky()], logger: memoryLogger() })
        await server.ready()
        await server.close()
        const place = expect.stringMatching(new RegExp(`test/plugins/testing/leaks\\.test\\.ts:${made![0]}:\\d+$`))
        // On a busy machine, what is on its way to an end takes longer than the patience.
        await expect
          .poll(() => leaks.find(server), { timeout: 30_000 })
          .toMatchObject([{ kind, plugin: 'leaky', count: 1, place }])
        await made![1]()
        await expect.poll(() => leaks.find(), { timeout: 30_000 }).toEqual([])
        leaks.stop()
      })
    }
  }
})

test('what a hook, a fallback or a handler of a websocket leaves is named with the plugin', async () => {
  await using leaks = trackLeaks({ patience: 10, ignore: ({ plugin }) => plugin !== 'leaky' })
  const timers: NodeJS.Timeout[] = []
  const made: string[] = []
  const leave = (where: string) => {
    if (made.includes(where)) return
    made.push(where)
    timers.push(setInterval(() => {}, 60_000))
  }
  const leaky = definePlugin({
    name: 'leaky',
    setup(ctx) {
      for (const name of ['onSend', 'onResponse', 'onError'] as const) ctx[name](() => leave(name))
      ctx.fallback('/old', (_req, res) => {
        leave('fallback')
        res.send('old')
      })
      ctx.setErrorHandler((_req, _res, next) => {
        leave('error handler')
        next()
      })
      ctx.ws('/live', {
        open: () => leave('open'),
        message(socket) {
          leave('message')
          socket.send('x')
          throw new Error('no')
        },
        error(socket) {
          leave('error')
          socket.close()
        },
        close: () => leave('close'),
      })
    },
  })
  const server = make({ plugins: [websocket(), leaky()] })
  server.get('/', () => {
    throw new Error('no')
  })
  await server.listen()
  await fetch(`${server.url}/`)
  await fetch(`${server.url}/old`)
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/live`)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send('"x"')
  await new Promise((resolve) => socket.addEventListener('message', resolve))
  await expect.poll(() => made, { timeout: 20_000 }).toContain('close')
  await server.close()
  const ofSocket = ['open', 'message', 'error', 'close']
  const all = [...ofSocket, 'error handler', 'fallback', 'onError', 'onResponse', 'onSend']
  expect(made.toSorted()).toEqual(all.toSorted())
  await expect.poll(() => leaks.find(server)).toMatchObject([{ kind: 'interval', plugin: 'leaky', count: 9 }])
  for (const timer of timers) clearInterval(timer)
})

const start = (server: Server) => server.listen().then(() => fetch(`${server.url}/`))
const make = (options = {}) =>
  new Server({ router: new RouteCollection(), port: 0, host: '127.0.0.1', logger: memoryLogger(), ...options })

test('a server that is not closed is a leak of the line that made it listen, and so is its connection', async () => {
  const leaks = trackLeaks({ patience: 10 })
  const server = make()
  server.get('/', () => 'x')
  await server.listen()
  const at = line() - 1
  const client = connect(server.port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await new Promise((resolve) => client.once('data', resolve))
  const find = async () =>
    (await leaks.find()).map(({ kind, place }) => `${kind} ${/leaks\.test\.ts:(\d+)/.exec(place)?.[1]}`).toSorted()
  // The interval drops connections that are too slow.
  await expect.poll(find).toEqual([`interval ${at}`, `server ${at}`, `socket ${at}`, `socket ${at + 2}`])
  await expect(leaks.assertNone()).rejects.toThrow(
    new RegExp(`4 resources are still in use:[^]*- server, made at test/plugins/testing/leaks.test.ts:${at}:\\d+\n`),
  )
  await server.close()
  await expect.poll(find).toEqual([])
  await leaks.assertNone()
  leaks.stop()
})

test.each([
  ['a module loads it', 'make()', () => {}],
  ['a faked timer of it runs', 'setTimeout(make, 5)', () => vi.advanceTimersByTime(5)],
])('what a package makes when %s is seen', async (what, code, then) => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const own = join(folder, 'node_modules', what.replaceAll(' ', '-'))
  mkdirSync(own, { recursive: true })
  writeFileSync(
    join(own, 'index.mjs'),
    `export let made\nconst make = () => (made = setInterval(() => {}, 60_000))\n${code}`,
  )
  const leaks = trackLeaks({ patience: 0 })
  const loaded = (await import(pathToFileURL(join(own, 'index.mjs')).href)) as { made: NodeJS.Timeout }
  then()
  vi.useRealTimers()
  expect(await leaks.find()).toMatchObject([{ kind: 'interval', count: 1 }])
  clearInterval(loaded.made)
  expect(await leaks.find()).toEqual([])
  leaks.stop()
})

// Node.js 20 has no waitFor.
test.skipIf(Number.parseInt(process.versions.node, 10) < 22)(
  'what node:test sets to wait is left out, and what a test sets is not, also by a function that it watches',
  async () => {
    const file = join(folder, 'waiting.test.mjs')
    const modules = pathToFileURL(join(root, 'dist/plugins/testing/index.js')).href
    writeFileSync(
      file,
      `import { test } from 'node:test'
import { trackLeaks } from ${JSON.stringify(modules)}
test('waits', async (t) => {
  await using leaks = trackLeaks({ patience: 0 })
  t.mock.method(globalThis, 'setInterval')
  const timers = [setInterval(() => {}, 60_000), setTimeout(() => {}, 60_000)]
  t.assert.deepEqual((await leaks.find()).map(({ kind }) => kind), ['interval', 'timer'])
  for (const timer of timers) setTimeout(() => clearTimeout(timer), 200)
  await t.waitFor(() => leaks.assertNone(), { timeout: 20_000, interval: 20 })
})
`,
    )
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
    await promisify(execFile)(process.execPath, ['--test', file], { env })
  },
)

test('nothing is left of a server whose client keeps its connection', async () => {
  await using leaks = trackLeaks({ patience: 30_000 })
  await using server = make()
  server.get('/', () => 'x')
  expect(await (await start(server)).json()).toBe('x')
  void leaks
})

test('await using rejects with the AssertionError of Node.js', async () => {
  let timer: NodeJS.Timeout | undefined
  const leave = async () => {
    await using leaks = trackLeaks({ patience: 0 })
    timer = setTimeout(() => {}, 60_000)
    void leaks
  }
  await expect(leave()).rejects.toMatchObject({
    code: 'ERR_ASSERTION',
    message: expect.stringMatching(/^one resource is still in use:\n- timer, made at test\/plugins\/testing\/leaks/),
    actual: [{ kind: 'timer', plugin: undefined }],
  })
  clearTimeout(timer)
})

test('a timer that fires once and keeps no process alive, and what the options ignore, do not count as leaks', async () => {
  await using leaks = trackLeaks({ patience: 0, ignore: ({ kind }) => kind === 'interval' })
  const timers = [setTimeout(() => {}, 60_000).unref(), setInterval(() => {}, 60_000)]
  expect(await leaks.find()).toEqual([])
  for (const timer of timers) clearTimeout(timer)
  expect(() => trackLeaks({ patience: -1 })).toThrow('patience')
})

test('what the plugins of another server have made is left out', async () => {
  await using leaks = trackLeaks({ patience: 10 })
  const timers: NodeJS.Timeout[] = []
  const ticking = definePlugin({
    name: 'ticking',
    provide: () => ({ ticking: timers.push(setInterval(() => {}, 60_000)) }) as {},
    setup(ctx) {
      ctx.onClose(() => timers.forEach((timer) => void clearInterval(timer)))
    },
  })
  const [mine, other] = [make(), make({ plugins: [ticking()] })]
  await Promise.all([mine.ready(), other.ready()])
  await mine.close()
  await expect.poll(() => leaks.find(mine)).toEqual([])
  await leaks.assertNone(mine)
  expect(await leaks.find(other)).toMatchObject([{ kind: 'interval', plugin: 'ticking' }])
  await other.close()
})
