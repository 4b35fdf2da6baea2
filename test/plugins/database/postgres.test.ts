import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { afterCommit, type DatabaseOptions, kyselyDialect, type Request, Server } from 'framework'
import { type Generated, Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

interface Tables {
  books: { id: Generated<number>; title: string }
}

describe.skipIf(!hasPostgres)('Postgres', () => {
  let postgres: OwnServer
  let main: Server
  const clientOf = (server: Server) => server.services.get('databases').client()
  const run = (text: string, ...values: unknown[]) => clientOf(main).query(text, values)
  const titles = async () => (await run('select title from books order by title')).rows.map(({ title }) => title)

  async function serve(setUp: (server: Server) => void, options: DatabaseOptions = {}) {
    const server: Server = new Server({
      port: 0,
      plugins: { database: { url: postgres.url, ...options }, timeout: true },
    })
    setUp(server)
    await server.ready()
    return server
  }

  beforeAll(async () => {
    postgres = await startPostgres()
    main = await serve(() => {})
    await run(
      'create table books (id int generated always as identity primary key, title text not null unique deferrable initially deferred)',
    )
    await run('create table stock (id int primary key, copies int not null)')
  })
  beforeEach(() => run('truncate books, stock'))
  afterAll(async () => {
    await main.close()
    await postgres.stop()
  })

  for (const driver of ['pg', 'postgres'] as const) {
    describe(driver, () => {
      const served = (setUp: (server: Server) => void, options: DatabaseOptions = {}) =>
        serve(setUp, { driver, ...options })

      test('a route without the option has no transaction; one with it has one, begun at the first statement', async () => {
        await using server = await served((server) => {
          const handler = async (req: Request) => {
            const at = () => req.database.query('select now() as at')
            const [first, second] = [await at(), await at()]
            return { isOne: String(first.rows[0]!.at) === String(second.rows[0]!.at) }
          }
          server.get('/without', handler)
          server.get('/with', { transaction: true }, handler)
          server.get('/idle', { transaction: true }, () => ({ isIdle: true }))
        })
        // Times of Postgres have microseconds, those of JavaScript milliseconds: two statements may still seem to be at once.
        expect((await server.inject.get('/with')).body()).toEqual({ isOne: true })
        ;(await server.inject.get('/without')).assertStatus(200)
        ;(await server.inject.get('/idle')).assertStatus(200)
        expect(clientOf(server).counts.waiting).toBe(0)
      })

      test('a commit that fails is the failure of the request', async () => {
        const sent: string[] = []
        await using server = await served((server) => {
          server.post('/books', { transaction: true }, async (req, res) => {
            await req.database.query("insert into books (title) values ('Emma'), ('Emma')")
            afterCommit(() => void sent.push('sent'))
            return res.status(201).json({ title: 'Emma' })
          })
        })
        ;(await server.inject.post('/books')).assertStatus(500)
        expect(await titles()).toEqual([])
        expect(sent).toEqual([])
      })

      test('a statement that failed and was caught does not end in a silent rollback', async () => {
        await using server = await served((server) => {
          server.post('/caught', { transaction: true }, async (req, res) => {
            await req.database.query("insert into books (title) values ('Emma')")
            await req.database.query('select 1 / 0').catch(() => {})
            return res.created()
          })
        })
        ;(await server.inject.post('/caught')).assertStatus(500)
        expect(await titles()).toEqual([])
      })

      test('a client that goes away rolls back, also while the handler continues', async () => {
        const inserted = deferred()
        const late = deferred<unknown>()
        await using server = await served((server) => {
          server.post('/slow', { transaction: true }, async (req) => {
            await req.database.query("insert into books (title) values ('Emma')")
            const gone = new Promise((resolve) => req.signal.addEventListener('abort', resolve))
            inserted.resolve()
            await gone
            late.resolve(await req.database.query('select 1').catch((error: unknown) => error))
          })
        })
        const { port } = await server.listen()
        const controller = new AbortController()
        const options = { method: 'POST', signal: controller.signal }
        const request = fetch(`http://127.0.0.1:${port}/slow`, options).catch(() => {})
        await inserted.promise
        controller.abort()
        await request
        expect(await late.promise).toMatchObject({ code: 'TransactionEndedError' })
        await expect.poll(() => clientOf(server).counts.size - clientOf(server).counts.idle).toBe(0)
        expect(await titles()).toEqual([])
      })

      test('a time limit rolls back', async () => {
        await using server = await served((server) => {
          server.post('/slow', { transaction: true, timeout: 100 }, async (req) => {
            await req.database.query("insert into books (title) values ('Emma')")
            await new Promise(() => {})
          })
        })
        ;(await server.inject.post('/slow')).assertStatus(503)
        await expect.poll(() => clientOf(server).counts.size - clientOf(server).counts.idle).toBe(0)
        expect(await titles()).toEqual([])
      })

      test('a serialization failure is repeated where the route says so', async () => {
        let reads = 0
        const bothHaveRead = deferred()
        const often = 5
        await run('insert into stock values (1, 100)')
        await using server = await served((server) => {
          server.post('/take', { transaction: { isolation: 'serializable', retry: often } }, async (req, res) => {
            const { rows } = await req.database.query<{ copies: number }>('select copies from stock where id = 1')
            if (++reads === 2) bothHaveRead.resolve()
            await bothHaveRead.promise
            const left = rows[0]!.copies - 1
            await req.database.query('update stock set copies = $1 where id = 1', [left])
            return res.status(201).json({ left })
          })
        })
        const both = await Promise.all([1, 2].map(() => server.inject.post('/take')))
        expect(both.map((res) => res.assertStatus(201).body<{ left: number }>().left).sort()).toEqual([98, 99])
        expect((await run('select copies from stock')).rows).toEqual([{ copies: 98 }])
        expect(reads).toBe(3)
      })

      test('a text of several statements has the result of the last one', async () => {
        await using server = await served(() => {})
        const { rows, count } = await clientOf(server).query('select 1 as n; select 2 as n')
        expect({ rows, count }).toEqual({ rows: [{ n: 2 }], count: 1 })
      })

      test('a single query waits for a connection only for a time', async () => {
        await using server = await served(() => {}, { pool: { max: 1, acquireTimeout: 1_500 } })
        const client = clientOf(server)
        const taken = await client.acquire()
        await expect(client.query('select 1')).rejects.toMatchObject({ code: 'DatabaseBusyError' })
        taken.release()
        await client.query('select 1')
      })

      test('readOnly refuses to write', async () => {
        await using server = await served((server) => {
          server.post('/books', { transaction: { readOnly: true } }, (req) =>
            req.database.query("insert into books (title) values ('Emma')"),
          )
        })
        ;(await server.inject.post('/books')).assertStatus(500)
      })

      test('statements that would end the transaction are refused, savepoints of a library work', async () => {
        await using server = await served(() => {})
        const database = clientOf(server)
        await expect(database.transaction(() => database.query('commit'))).rejects.toMatchObject({
          code: 'TransactionStatementError',
        })
        await database.transaction(async () => {
          await database.query("insert into books (title) values ('a')")
          await database.query('begin')
          await database.query("insert into books (title) values ('b')")
          await database.query('rollback')
        })
        expect(await titles()).toEqual(['a'])
        await expect(database.transaction(() => database.query('end'))).rejects.toThrow('"end" is not for query()')
      })

      test('a begin without a transaction is refused: the next caller would find itself in it', async () => {
        await using server = await served(() => {})
        for (const statement of ['begin', ' START TRANSACTION', 'end', 'abort'])
          await expect(clientOf(server).query(statement)).rejects.toMatchObject({ code: 'TransactionStatementError' })
      })
    })
  }

  test('queries of Kysely and Drizzle belong to the transaction, and theirs become savepoints', async () => {
    await using server = await serve(
      (server) => {
        server.post('/books', { transaction: true }, async (_req, res) => {
          const databases = server.services.get('databases')
          const layers = databases.get() as unknown as {
            own: Kysely<Tables>
            native: Kysely<Tables>
            drizzled: ReturnType<typeof drizzle>
          }
          await layers.own.insertInto('books').values({ title: 'own' }).execute()
          await layers.native.insertInto('books').values({ title: 'native' }).execute()
          await layers.drizzled.execute(sql`insert into books (title) values ('drizzled')`)
          for (const one of [layers.own, layers.native]) {
            await one
              .transaction()
              .execute(async (inner) => {
                await inner.insertInto('books').values({ title: 'inner' }).execute()
                throw new Error('taken back')
              })
              .catch(() => {})
          }
          await layers.drizzled
            .transaction(async (inner) => {
              await inner.execute(sql`insert into books (title) values ('inner')`)
              throw new Error('taken back')
            })
            .catch(() => {})
          expect((await layers.own.selectFrom('books').selectAll().execute()).length).toBe(3)
          expect(await titles()).toEqual([])
          return res.status(400).json({})
        })
      },
      {
        layer: (({ database, pool }: { database: never; pool: Pool }) => ({
          own: new Kysely<Tables>({ dialect: kyselyDialect(PostgresDialect, database) }),
          native: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
          drizzled: drizzle({ client: pool }),
        })) as never,
      },
    )
    ;(await server.inject.post('/books')).assertStatus(400)
    expect(await titles()).toEqual([])
  })
})
