import { tracingChannel } from 'node:diagnostics_channel'
import { bullmqQueue } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { lookAt, makeServer, servers } from './support.ts'

describe.skipIf(!hasRedis)('commands of Redis', () => {
  let store: RedisServer
  let client: Redis
  const own: { disconnect(): void }[] = []
  beforeAll(async () => {
    store = await startRedis()
    client = new Redis(store.url)
    await client.ping()
  })
  afterAll(async () => {
    client?.disconnect()
    for (const one of own) one.disconnect()
    for (const server of servers.splice(0)) await server.close()
    await store?.stop()
  })

  test('belong to the request that sent them, with keys and without values', async () => {
    const { server } = makeServer()
    server.get('/orders', async () => {
      await client.set('order:1', 'hidden-value', 'EX', 60)
      await client.get('order:1')
      await client.exists('order:1', 'order:2')
      await client.mget('order:1')
      await client.hset('order:2:x', 'field', 'hidden-value')
      await client.eval('return ARGV[1]', 1, 'order:1', 'hidden-value')
      await client.srem('members', 'hidden-value')
      await client.config('SET', 'proc-title-template', 'hidden-value').catch(() => {})
      await client.get('token:hidden-value')
      await client.multi().incr('count').exec()
      await client.eval('return 1', 3, 'order:1', 'hidden-value').catch(() => {})
      await client.get('get')
      await client.call('JSON.SETS', 'order:1', 'hidden-value').catch(() => {})
      await client.lpush('order:1', 'hidden-value').catch(() => {})
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject({ url: '/orders' })
    const request = await look.newest('request')
    const commands = request.related.filter(({ kind }) => kind === 'redis')
    expect(commands.map(({ title, outcome }) => `${title} ${outcome}`)).toEqual([
      'SET order:1 … ok',
      'GET order:1 ok',
      'EXISTS order:1 order:2 ok',
      'MGET … ok',
      'HSET order:2:x … ok',
      'EVAL order:1 … ok',
      'SREM members … ok',
      expect.stringMatching(/^CONFIG SET … /),
      'GET token:[redacted] ok',
      'MULTI ok',
      'INCR count ok',
      'EXEC ok',
      'EVAL … failed',
      'GET get ok',
      'JSON.SETS … failed',
      'LPUSH order:1 … failed',
    ])
    expect(JSON.stringify(request)).not.toContain('hidden-value')
    const unknown = await look.details(commands.find(({ title }) => title.startsWith('JSON'))!.id)
    expect(unknown.error?.message).toMatch(/unknown command 'JSON.SETS', with args beginning with: \[redacted\]$/)
    expect(JSON.stringify([unknown, await look.json('exceptions')])).not.toContain('hidden-value')
    const failed = await look.details(commands.at(-1)!.id)
    expect(failed.error?.message).toMatch(/WRONGTYPE/)
    expect(failed.parent).toBe(request.id)
    expect(failed.data).toEqual({ command: 'LPUSH', server: store.url.slice(8), database: 0 })
  })

  test('with which a client introduces itself are left out: an older Redis refuses them, and nothing has failed', async () => {
    const { server } = makeServer()
    server.get('/hello', () => 'hello')
    const look = await lookAt(server)
    const second = new Redis(store.url)
    own.push(second)
    await second.ping()
    await second.get('after')
    const titles = (await look.list('redis')).map(({ title }) => title)
    expect(titles).toContain('GET after')
    expect(titles.filter((title) => title.includes('SETINFO'))).toEqual([])
  })

  test('that a request sends again and again for each thing are marked', async () => {
    const { server } = makeServer()
    server.get('/books', async () => {
      for (let i = 1; i < 7; i++) await client.get(`book:${i}:title`)
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject({ url: '/books' })
    const notes = (await look.list('redis')).map(({ title, note }) => `${title} ${note}`.trim())
    expect(notes).toEqual([
      'GET book:6:title 6 times here',
      'GET book:5:title 5 times here',
      'GET book:4:title',
      'GET book:3:title',
      'GET book:2:title',
      'GET book:1:title',
    ])
  })

  test('that a connection sends to introduce its package are not shown: an older Redis refuses them', async () => {
    const { server } = makeServer()
    server.get('/', async () => {
      const another = client.duplicate()
      own.push(another)
      await another.get('a')
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject({ url: '/' })
    const titles = (await look.list('redis')).map(({ title }) => title)
    expect(titles).toContain('GET a')
    expect(titles.join()).not.toContain('CLIENT')
    expect(await look.json('exceptions')).toEqual([])
  })

  test('with a key of any length cost little', async () => {
    const { server } = makeServer()
    server.get('/', async () => {
      // Of 50 000 characters, it took 16 s to find out that no part is a number.
      for (let i = 0; i < 5; i++) await client.get('x'.repeat(200_000))
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject({ url: '/' })
    expect(await look.newest('redis')).toMatchObject({
      note: '5 times here',
      title: expect.stringMatching(/^GET x.*…$/),
    })
  })

  test('of the framework itself are left out: those of a session, a lock, a limit, a queue', async () => {
    const { server } = makeServer(true, {
      session: { secret: 's'.repeat(32), store: { redis: store.url } },
      locks: { store: { redis: store.url } },
      rateLimit: { limit: 10, windowMs: 60_000, store: { redis: store.url } },
      queues: { run: true, config: { bullmq: { connection: store.url } } },
    })
    const jobs = bullmqQueue<{ a: number }>('inspected-redis')
    const taken = new Promise<void>((resolve) => void jobs.subscribe(async () => resolve()))
    server.get('/', async (req) => {
      ;(req as unknown as { session: { seen: number } }).session.seen = 1
      await jobs.publish({ a: 1 })
      await client.get('mine')
      return 'done'
    })
    await server.listen()
    const look = await lookAt(server)
    const { status } = await server.inject({ url: '/' })
    expect(status).toBe(200)
    await taken
    expect((await look.list('redis')).map(({ title }) => title)).toEqual(['GET mine'])
  })

  test('of node-redis are read in its own form', async () => {
    const { server } = makeServer()
    const commands = tracingChannel('node-redis:command')
    server.get('/', async () => {
      const where = { database: 2, serverAddress: '/tmp/redis.sock', serverPort: undefined }
      await commands.tracePromise(async () => 1, { command: 'SET', args: ['SET', 'a', '?'], ...where } as object)
      return 'done'
    })
    const look = await lookAt(server)
    await server.inject({ url: '/' })
    expect(await look.newest('redis')).toMatchObject({
      title: 'SET a …',
      data: { command: 'SET', server: '/tmp/redis.sock', database: 2 },
    })
  })
})
