import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Request, RouteCollection, Server } from 'framework'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { gate } from '../../support/queues.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { withTypeScript } from '../../support/typescript-process.ts'
import { sendTo } from './plain.ts'

const scope = (req: Request) => req.headers['x-user']
const headers = (key: string) => ({ 'idempotency-key': key, 'x-user': 'ann' })

function serverWith(idempotency: object, more: object = {}) {
  const plugins = { ...more, idempotency: { scope, ...idempotency } } as {}
  const server: Server = new Server({ port: 0, plugins, router: new RouteCollection(), logger: memoryLogger() })
  return server
}

const post = (server: Server, key: string, path = '/') => sendTo(server, path, headers(key))

describe.skipIf(!hasRedis)('in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('processes share keys: one runs, and the other repeats its response', async () => {
    let runs = 0
    const make = () => {
      const server = serverWith({ store: { redis: redis.url } })
      server.post('/', { idempotency: true }, async (_req, res) => res.created({ run: ++runs }))
      return server
    }
    await using a = make()
    await using b = make()
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => post(i % 2 ? a : b, 'k')))
    expect(all.every(({ status }) => status === 201 || status === 409)).toBe(true)
    const last = await post(b, 'k')
    expect([last.status, last.body, runs]).toEqual([201, { run: 1 }, 1])
    await using client = Object.assign(new Redis(redis.url), { [Symbol.asyncDispose]: async () => client.disconnect() })
    const [key = ''] = await client.keys('idempotency:*')
    expect(await client.pttl(key)).toBeGreaterThan(80_000_000)
    expect(key).not.toContain('ann')
  })

  test('a Redis that goes away refuses with 503', async () => {
    const own = await startRedis()
    await using server = serverWith({ store: { redis: own.url } })
    server.post('/', { idempotency: true }, () => 'ok')
    expect((await post(server, 'a')).status).toBe(200)
    await own.stop()
    expect((await post(server, 'b')).status).toBe(503)
  })
})

const tables = `create table if not exists orders (name text)`

describe('in SQLite', () => {
  test('the response is written with the rows of the handler, or not at all', async () => {
    await using server = serverWith({ store: 'database' }, { database: { url: 'sqlite::memory:' } })
    let runs = 0
    server.post('/:way', { idempotency: true, transaction: true }, async (req) => {
      runs++
      await req.database.query('insert into orders (name) values (?)', [req.params.way])
      if (req.params.way === 'fails' && runs === 1) throw new Error('no')
      return { runs }
    })
    await server.ready()
    const { query } = { query: (text: string) => server.services.get('databases').client().query(text) }
    await query(tables)
    expect((await post(server, 'a', '/fails')).status).toBe(500)
    expect((await query('select * from framework_idempotency')).rows).toEqual([])
    expect((await post(server, 'a', '/fails')).body).toEqual({ runs: 2 })
    expect((await post(server, 'a', '/fails')).body).toEqual({ runs: 2 })
    expect((await query('select name from orders')).rows).toEqual([{ name: 'fails' }])
  })
})

const kinds = [
  { name: 'Postgres', has: hasPostgres, start: startPostgres },
  { name: 'MySQL', has: hasMariadb, start: startMariadb },
]

describe.each(kinds.filter(({ has }) => has))('in $name', ({ name, start }) => {
  let started: OwnServer
  beforeAll(async () => {
    started = await start()
  })
  afterAll(() => started.stop())

  async function serve(setUp: (server: Server) => void) {
    const server = serverWith({ store: 'database' }, { database: { url: started.url } })
    setUp(server)
    await server.ready()
    const database = server.services.get('databases').client()
    await database.query(tables)
    for (const table of ['orders', 'framework_idempotency']) await database.query(`delete from ${table}`)
    return Object.assign(server, { run: (text: string) => database.query(text) })
  }

  test('several servers that start together make one table', async () => {
    const servers = Array.from({ length: 6 }, () =>
      serverWith({ store: 'database' }, { database: { url: started.url } }),
    )
    await Promise.all(servers.map((server) => server.ready()))
    await Promise.all(servers.map((server) => server.close()))
  })

  test('the removal of old keys, which waits for a transaction, lets new ones in', async () => {
    await using server = await serve((server) => {
      server.post('/', { idempotency: true }, (_req, res) => res.created({ ok: true }))
    })
    const isMysql = name === 'MySQL'
    const column = isMysql ? '`key`' : 'key'
    const rows = "('a', '', 1), ('b', '', 9e15), ('old', '', 1)"
    await server.run(`insert into framework_idempotency (${column}, value, until) values ${rows}`)
    const database = server.services.get('databases').client()
    const held = await database.acquire()
    await held.query(isMysql ? 'start transaction' : 'begin', [])
    await held.query(`update framework_idempotency set value = 'held' where ${column} = 'b'`, [])
    // The first key of a process.
    expect((await post(server, 'k')).status).toBe(201)
    await held.query('rollback', [])
    held.release()
    const left = async () => (await server.run('select until from framework_idempotency where until = 1')).rows
    await expect.poll(left).toEqual([])
  })

  for (const transaction of [true, false])
    test(`of many attempts at once one runs, ${transaction ? 'with' : 'without'} a transaction`, async () => {
      const refused = gate()
      await using server = await serve((server) => {
        server.post('/', { idempotency: true, transaction }, async (req, res) => {
          await req.database.query("insert into orders values ('one')")
          await refused.opened
          res.created({ ok: true })
        })
      })
      const sent = Array.from({ length: 30 }, () => post(server, 'k'))
      // The first response is that of another one.
      void Promise.race(sent).then(refused.open)
      const all = await Promise.all(sent)
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201, 409]))
      expect((await post(server, 'k')).headers['idempotent-replayed']).toBe('true')
      expect((await server.run('select * from orders')).rows).toHaveLength(1)
    })

  test('a transaction whose key another process has taken over is rolled back', async () => {
    const [begun, taken] = [gate(), gate()]
    await using server = await serve((server) => {
      server.post('/', { idempotency: true, transaction: true }, async (req) => {
        await req.database.query("insert into orders values ('late')")
        begun.open()
        await taken.opened
        return 'ok'
      })
    })
    const first = post(server, 'k')
    await begun.opened
    await server.run(`update framework_idempotency set value = '{"fingerprint":"other","owner":"other"}'`)
    taken.open()
    const res = await first
    expect([res.status, res.body]).toMatchObject([503, { code: 'IdempotencyLostError' }])
    expect((await server.run('select * from orders')).rows).toEqual([])
    expect((await server.run('select value from framework_idempotency')).rows).toMatchObject([
      { value: expect.stringContaining('other') },
    ])
  })

  test('a client that leaves rolls back a transaction, and its next attempt runs again', async () => {
    let runs = 0
    await using server = await serve((server) => {
      server.post('/', { idempotency: true, transaction: true }, async (req) => {
        await req.database.query("insert into orders values ('gone')")
        if (++runs === 1) await new Promise((resolve) => req.signal.addEventListener('abort', resolve))
        return { runs }
      })
    })
    const { port } = await server.listen()
    const client = new AbortController()
    const send = (signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: headers('k'), ...(signal && { signal }) })
    const first = send(client.signal).catch(() => 'left')
    await expect.poll(() => runs).toBe(1)
    client.abort()
    expect(await first).toBe('left')
    await expect.poll(async () => (await send()).status).toBe(200)
    expect(runs).toBe(2)
    expect((await server.run('select * from orders')).rows).toHaveLength(1)
  })

  test('a transaction that is repeated after a conflict keeps one response', async () => {
    let runs = 0
    const retry = 2
    await using server = await serve((server) => {
      server.post('/', { idempotency: true, transaction: { retry } }, async (req) => {
        await req.database.query("insert into orders values ('again')")
        if (++runs === 1) throw Object.assign(new Error('conflict'), { code: '40001' })
        return { runs }
      })
    })
    expect((await post(server, 'k')).body).toEqual({ runs: 2 })
    expect((await post(server, 'k')).body).toEqual({ runs: 2 })
    expect((await server.run('select * from orders')).rows).toHaveLength(1)
  })

  // MySQL checks everything before the commit.
  if (name !== 'MySQL')
    test('a commit that fails gives the key up', async () => {
      let fails = true
      await using server = await serve((server) => {
        server.post('/', { idempotency: true, transaction: true }, async (req) => {
          await req.database.query(`insert into once values (${fails ? 1 : 2})`)
          return 'ok'
        })
      })
      await server.run('create table once (n int unique deferrable initially deferred)')
      await server.run('insert into once values (1)')
      expect((await post(server, 'k')).status).toBe(500)
      fails = false
      const res = await post(server, 'k')
      expect([res.status, res.headers['idempotent-replayed']]).toEqual([200, undefined])
    })

  if (name !== 'MySQL')
    test('a refusal by a transaction whose first commit met a conflict is kept', async () => {
      let runs = 0
      const retry = 2
      await using server = await serve((server) => {
        server.post('/', { idempotency: true, transaction: { retry } }, async (req, res) => {
          await req.database.query(`insert into seats values (${++runs})`)
          return res.status(runs === 1 ? 201 : 409).json({ runs })
        })
      })
      await server.run('create table seats (n int)')
      await server.run(`create function conflict() returns trigger language plpgsql
        as $$ begin raise exception using errcode = '40001'; end $$`)
      await server.run(`create constraint trigger conflicts after insert on seats deferrable initially deferred
        for each row execute function conflict()`)
      for (const replayed of [undefined, 'true']) {
        const res = await post(server, 'k')
        expect([res.status, res.body, res.headers['idempotent-replayed']]).toEqual([409, { runs: 2 }, replayed])
      }
    })

  test('a process that is killed leaves neither rows nor response, or both', async () => {
    await using server = await serve(() => {})
    const script = fileURLToPath(new URL('./killed.ts', import.meta.url))
    const child: ChildProcess = spawn(process.execPath, [...withTypeScript, script, started.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    let printed = ''
    const url = await new Promise<string>((resolve) =>
      child.stdout!.on('data', (text) => {
        printed += String(text)
        const found = /http:\S+(?=\s)/.exec(printed)
        if (found !== null) resolve(found[0])
      }),
    )
    const send = (key: string) =>
      fetch(url, { method: 'POST', headers: headers(key) }).then(
        ({ status }) => status,
        () => 0,
      )
    expect(await send('before')).toBe(200)
    const pending = Array.from({ length: 20 }, (_, i) => send(`k${i}`))
    await Promise.race(pending)
    child.kill('SIGKILL')
    await Promise.all([exited, ...pending])
    // In one statement: the database may still commit what the process has sent.
    const text = `select count(*) as total, count(distinct name) as names,
      sum(case when name = 'before' then 1 else 0 end) as early,
      (select count(*) from framework_idempotency where value like '%"response"%') as kept from orders`
    const [{ total, names, early, kept } = {}] = (await server.run(text)).rows
    expect([names, kept].map(Number)).toEqual([Number(total), Number(total)])
    expect(Number(early)).toBe(1)
  })
})
