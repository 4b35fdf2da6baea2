import { type ChildProcess, fork } from 'node:child_process'
import { get } from 'node:http'
import { RouteCollection, Server } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Entry as LogEntry, memoryLogger, pause } from '../../support/kernel.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

describe.skipIf(!hasRedis)('the cache with provider redis', () => {
  let redis: RedisServer
  let client: Redis
  const servers: Server[] = []
  const children: ChildProcess[] = []

  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })
  beforeEach(() => client.flushall())
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })

  // A machine under load must not look like a Redis that is down: by default a command has 200 ms.
  function makeServer(options: object = {}, log: LogEntry[] = []) {
    const router = new RouteCollection()
    const cache = { provider: 'redis' as const, redis: { url: redis.url, timeout: 2_000 }, ...options }
    const server = new Server({ router, logger: memoryLogger(log), gracefulShutdown: false, plugins: { cache } })
    servers.push(server)
    const invalidate = (tags: string[]) => server.services.get('cache').invalidate(tags)
    const invalidatePattern = (pattern: string) => server.services.get('cache').invalidatePattern(pattern)
    return { server, router, log, invalidate, invalidatePattern }
  }

  /** A second process with the same routes. */
  async function startProcess(mode = ''): Promise<{ port: number; child: ChildProcess }> {
    const file = new URL('../fixtures/cache-server.ts', import.meta.url)
    const child = fork(file, [redis.url, mode], {
      execArgv: withTypeScript,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    children.push(child)
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', (message) => resolve((message as { port: number }).port))
      child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)))
    })
    return { port, child }
  }

  test('replays text, bytes and empty responses exactly, over a restart of the application', async () => {
    const define = (router: RouteCollection, mark: string) => {
      router.get('/json', { cache: true }, (_req, res) => res.header('x-own', mark).created({ ü: [1, null] }))
      router.get('/bytes', { cache: true }, (_req, res) =>
        res.type('image/png').bytes(new Uint8Array([0, 255, 10, 13])),
      )
      router.get('/empty', { cache: true }, (_req, res) => res.noContent())
    }
    const { server: first, router } = makeServer()
    define(router, 'first')
    const answers = []
    for (const path of ['/json', '/bytes', '/empty'])
      answers.push((await first.inject.get(path)).assertHeader('x-cache', 'MISS'))
    await first.close()
    const { server: second, router: other } = makeServer()
    define(other, 'second')
    for (const [i, path] of ['/json', '/bytes', '/empty'].entries()) {
      const again = (await second.inject.get(path)).assertHeader('x-cache', 'HIT')
      expect(again.statusCode()).toBe(answers[i]!.statusCode())
      expect(Buffer.from(again.raw())).toEqual(Buffer.from(answers[i]!.raw()))
      const { 'x-cache': _, ...headers } = again.headers() as Record<string, unknown>
      const { 'x-cache': __, ...before } = answers[i]!.headers() as Record<string, unknown>
      expect(headers).toEqual(before)
    }
  })

  test('keys are cache:<METHOD>:<path>, after the prefix; entries, tags and locks end by themselves', async () => {
    const { server, router } = makeServer({ redis: { url: redis.url, timeout: 2_000, prefix: 'app1:' } })
    router.get('/x', { cache: { ttl: 60, tags: ['t'] } }, () => 1)
    await server.inject.get('/x?b=1&a=2')
    const keys = (await client.keys('*')).sort()
    expect(keys).toEqual(['app1:cache-tag:t', 'app1:cache:GET:/x?a=2&b=1#http://localhost'])
    for (const key of keys) {
      const ttl = await client.ttl(key)
      expect(ttl).toBeGreaterThan(50)
      expect(ttl).toBeLessThanOrEqual(60)
    }
  })

  test('invalidates by tag and by pattern, whichever process has stored the response', async () => {
    const one = makeServer()
    const two = makeServer()
    const runs = [0, 0]
    for (const [i, { router }] of [one, two].entries())
      router.get('/a/:id', { cache: { tags: ['a', 'a::id'] } }, (req) => `${req.params.id} ${++runs[i]!}`)
    const hows = async (server: Server, ...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await server.inject.get(`/a/${id}`)).headers()['x-cache']))
    expect(await hows(one.server, '1', '2')).toEqual(['MISS', 'MISS'])
    expect(await hows(two.server, '1', '2')).toEqual(['HIT', 'HIT'])
    expect(await two.invalidate(['a:1'])).toBe(1)
    expect(await hows(one.server, '1', '2')).toEqual(['MISS', 'HIT'])
    expect(await one.invalidatePattern('cache:GET:/a/?')).toBe(2)
    expect(await hows(two.server, '1', '2')).toEqual(['MISS', 'MISS'])
    expect(await two.invalidate(['a'])).toBe(2)
    expect((await client.keys('cache-tag:*')).sort()).toEqual(
      ['cache-tag:a:2']
        .filter(() => true)
        .concat('cache-tag:a:1')
        .sort(),
    )
  })

  test('patterns are those of the memory provider: brackets and backslashes are meant literally', async () => {
    const { server, router, invalidatePattern } = makeServer()
    router.get('/x', { cache: { include: { key: () => '' } } }, () => 1)
    await server.inject.get('/x?a=1')
    expect(await invalidatePattern('cache:GET:/[xy]*')).toBe(0)
    expect(await invalidatePattern('cache:GET:\\/x*')).toBe(0)
    expect(await invalidatePattern('cache:GET:/x')).toBe(0)
    expect(await invalidatePattern('cache:GET:/x?a=1')).toBe(1)
  })

  test.each(['', 'p:'])('a pattern removes and counts keys of the cache only, with the prefix "%s"', async (prefix) => {
    const { server, router, invalidatePattern } = makeServer({ redis: { url: redis.url, timeout: 2_000, prefix } })
    const others = ['app:books#1', 'metadata:books#1', 'cache-tag:books#1', '@acme/data:books#1'].map(
      (key) => prefix + key,
    )
    router.get('/books', { cache: { tags: ['t'] } }, () => 1)
    for (const pattern of ['*books*', '*', '?*', '?????:*']) {
      await client.flushall()
      await client.mset(Object.fromEntries(others.map((key) => [key, 'the only copy'])))
      await server.inject.get('/books')
      await server.services.get('cache').getOrSet('books', {}, () => 1)
      expect([pattern, await invalidatePattern(pattern)]).toEqual([pattern, pattern === '?????:*' ? 1 : 2])
      expect(await client.exists(...others)).toBe(others.length)
    }
  })

  test('a response that another process invalidates while it is computed is not kept', async () => {
    const one = makeServer()
    const two = makeServer()
    await two.server.ready()
    for (const invalidate of [() => two.invalidate(['t']), () => two.invalidatePattern('cache:GET:/x')]) {
      let finish!: () => void
      one.router.clearRoutes()
      one.router.get('/x', { cache: { tags: ['t'] } }, () => new Promise((resolve) => (finish = () => resolve('old'))))
      const first = one.server.inject.get('/x')
      await expect.poll(() => finish).toBeTypeOf('function')
      await invalidate()
      finish()
      expect((await first).body()).toBe('old')
      expect(await client.keys('cache:*')).toEqual([])
      expect(await client.keys('cache-lock:*')).toEqual([])
    }
  })

  test('500 requests over two processes run the handler once', async () => {
    const processes = await Promise.all([startProcess(), startProcess()])
    const ask = (port: number, path: string) =>
      new Promise<{ how: unknown; body: string }>((resolve, reject) => {
        // The same host for both, as with a load balancer: it is part of the key.
        const options = { port, path, host: '127.0.0.1', headers: { host: 'same.test' }, agent: false as const }
        get(options, (res) => {
          let body = ''
          res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
          res.on('end', () => resolve({ how: `${res.statusCode} ${res.headers['x-cache']}`, body }))
        }).on('error', reject)
      })
    const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => ask(processes[i % 2]!.port, '/x')))
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['"x"']))
    const count = (how: string) => answers.filter((answer) => answer.how === how).length
    expect({ miss: count('200 MISS'), other: count('200 WAIT') + count('200 HIT') }).toEqual({ miss: 1, other: 499 })
    const runs = await Promise.all(processes.map(({ port }) => ask(port, '/runs')))
    expect(runs.map(({ body }) => Number(body)).sort()).toEqual([0, 1])
  })

  test('a miss takes two round trips, and a hit one', async () => {
    const counted = new Redis(redis.url)
    await counted.ping()
    const sent: string[] = []
    const send = counted.sendCommand.bind(counted)
    counted.sendCommand = (command, stream) => {
      sent.push(command.name.toUpperCase())
      return send(command, stream)
    }
    const { server, router } = makeServer({ redis: { client: counted, timeout: 20_000 } })
    router.get('/x/:id', { cache: { tags: ['t'] } }, (req) => req.params.id)
    await server.ready()
    const ask = async (path: string) => {
      sent.length = 0
      return [(await server.inject.get(path)).headers()['x-cache'], ...sent]
    }
    expect(await ask('/x/1')).toEqual(['MISS', 'EVAL', 'EVAL'])
    expect(await ask('/x/1')).toEqual(['HIT', 'GET'])
    await server.services.get('cache').invalidate(['t'])
    expect(await ask('/x/1')).toEqual(['MISS', 'GET', 'EVAL', 'EVAL'])
    // What another process has stored is found by the first question as well.
    const other = makeServer()
    other.router.get('/x/:id', { cache: true }, () => 'other')
    await other.server.inject.get('/x/2')
    expect(await ask('/x/2')).toEqual(['HIT', 'EVAL'])
    expect((await server.inject.head('/x/3')).headers()['x-cache']).toBe('MISS')
    counted.disconnect()
  })

  test('a response that another process leaves before the lock is not computed again', async () => {
    const slow = new Redis(redis.url)
    let go!: () => void
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    let asks = 0
    const evaluate = slow.callBuffer.bind(slow) as (...args: unknown[]) => Promise<unknown>
    Object.assign(slow, {
      callBuffer: async (...args: unknown[]) => {
        asks++
        await held
        return evaluate(...args)
      },
    })
    const first = makeServer()
    const second = makeServer({ redis: { client: slow, timeout: 20_000 } })
    first.router.get('/x', { cache: true }, () => 'first')
    second.router.get('/x', { cache: true }, () => 'second')
    const waiting = second.server.inject.get('/x')
    await expect.poll(() => asks).toBe(1)
    ;(await first.server.inject.get('/x')).assertHeader('x-cache', 'MISS')
    go()
    ;(await waiting).assertHeader('x-cache', 'HIT').assertBodyDeepEqual('first')
    expect(await client.keys('cache-lock:*')).toEqual([])
    slow.disconnect()
  })

  test('an unreadable entry is computed again, and overwritten', async () => {
    const { server, router } = makeServer()
    router.get('/x', { cache: true }, () => 'x')
    await server.inject.get('/x')
    const [key] = (await client.keys('*GET:/x*')) as [string]
    await client.set(key, 'of another version')
    ;(await server.inject.get('/x')).assertHeader('x-cache', 'MISS').assertBodyDeepEqual('x')
    ;(await server.inject.get('/x')).assertHeader('x-cache', 'HIT').assertBodyDeepEqual('x')
  })

  test('the lock of a process that was killed is free after lockTimeout', async () => {
    const { port, child } = await startProcess('hang')
    const hanging = new Promise((resolve) => child.once('message', resolve))
    fetch(`http://127.0.0.1:${port}/hang`).catch(() => {})
    await hanging
    const locks = await client.keys('cache-lock:*')
    expect(locks).toHaveLength(1)
    expect(await client.pttl(locks[0]!)).toBeLessThanOrEqual(3000)
    child.kill('SIGKILL')
    await expect.poll(() => client.exists(locks[0]!)).toBe(0)
  })

  describe('while Redis', () => {
    test('is down before boot: the server boots, responds uncached, and is back when Redis is', async () => {
      await redis.kill()
      try {
        const { server, router, log } = makeServer()
        router.get('/x', { cache: true }, () => 1)
        for (const _ of [1, 2, 3]) (await server.inject.get('/x')).assertStatus(200).assertHeader('x-cache', 'BYPASS')
        expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
        await redis.restart()
        const how = async () => (await server.inject.get('/x')).headers()['x-cache']
        await expect.poll(how, { timeout: 20_000, interval: 50 }).toBe('HIT')
        // That of the entry, its commit, and one that may have been sent before: a request that asked nothing has taken no lock.
        const [, evals] = /cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats'))!
        expect(Number(evals)).toBeLessThanOrEqual(3)
        expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
          'Redis does not respond: requests are served uncached',
          'Redis responds again: requests are cached',
        ])
      } finally {
        await redis.restart().catch(() => {})
      }
    })

    test('is killed under load: no 5xx, no request waits for it, and it is used again', async () => {
      const { server, router, log } = makeServer()
      router.get('/x/:i', { cache: { ttl: 0.05 } }, (req) => req.params.i)
      let served = 0
      const statuses = new Set<number>()
      let stopped = false
      const load = Array.from({ length: 10 }, async (_, worker) => {
        for (let i = 0; !stopped; i++) {
          const res = await server.inject.get(`/x/${worker}-${i % 50}`)
          served++
          statuses.add(res.statusCode())
          await pause(1)
        }
      })
      await expect.poll(() => served).toBeGreaterThan(100)
      await redis.kill()
      const before = served
      await expect.poll(() => served).toBeGreaterThan(before + 500)
      await redis.restart()
      const how = async () => (await server.inject.get('/x/probe')).headers()['x-cache']
      await expect.poll(how, { timeout: 20_000, interval: 20 }).toBe('HIT')
      stopped = true
      await Promise.all(load)
      expect([...statuses]).toEqual([200])
      expect(log.filter(({ level }) => level === 'warn')).toHaveLength(2)
    })

    test('is frozen: no one waits longer than the time-out of one command; the locks it takes when it thaws are released', async () => {
      const { server, router } = makeServer({ lockTimeout: 30_000 })
      router.get('/x/:i', { cache: true }, (req) => req.params.i)
      await server.inject.get('/x/0')
      redis.freeze()
      try {
        const all = await Promise.all(Array.from({ length: 50 }, (_, i) => server.inject.get(`/x/${i}`)))
        for (const res of all) res.assertStatus(200)
        ;(await server.inject.get('/x/7')).assertHeader('x-cache', 'BYPASS')
      } finally {
        redis.thaw()
      }
      const how = async () => (await server.inject.get('/x/7')).headers()['x-cache']
      await expect.poll(how, { timeout: 20_000, interval: 50 }).toBe('HIT')
      await expect.poll(() => client.keys('cache-lock:*')).toEqual([])
    })

    test('is out of memory: served uncached, reported once', async () => {
      const { server, router, log } = makeServer()
      router.get('/x/:i', { cache: true }, (req) => req.params.i)
      await server.ready()
      await client.config('SET', 'maxmemory', '1')
      try {
        for (let i = 0; i < 20; i++)
          (await server.inject.get(`/x/${i}`)).assertStatus(200).assertHeader('x-cache', 'BYPASS')
        expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
      } finally {
        await client.config('SET', 'maxmemory', '0')
      }
      ;(await server.inject.get('/x/a')).assertHeader('x-cache', 'MISS')
    })

    test('is down, an invalidation rejects: the responses are still there', async () => {
      const { server, invalidate } = makeServer()
      await server.ready()
      await redis.kill()
      try {
        await expect(invalidate(['t'])).rejects.toThrow('Redis')
      } finally {
        await redis.restart()
      }
    })
  })

  test('a client that was passed is used, and left open', async () => {
    const { server, router } = makeServer({ redis: { client, timeout: 20_000 } })
    router.get('/x', { cache: true }, () => 1)
    for (const how of ['MISS', 'HIT']) (await server.inject.get('/x')).assertHeader('x-cache', how)
    await server.close()
    expect(await client.ping()).toBe('PONG')
  })
})
