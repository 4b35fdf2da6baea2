import { sql } from 'drizzle-orm'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres'
import { afterCommit, type DatabaseOptions, kyselyDialect, once, type Request, Server } from 'framework'
import { type Generated, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { outsideTransactions } from '../../../plugins/shared/work/transactions.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

interface Tables {
  books: { id: Generated<number>; title: string }
}

const kinds = [
  {
    name: 'Postgres',
    has: hasPostgres,
    start: startPostgres,
    drivers: ['pg', 'postgres'],
    tables: [
      'create table books (id int generated always as identity primary key, title text not null unique deferrable initially deferred)',
      'create table stock (id int primary key, copies int not null)',
    ],
    // Times of Postgres have microseconds, those of JavaScript milliseconds: two statements may still seem to be at once.
    inside: 'select now()::text as inside',
    Dialect: PostgresDialect,
    drizzle: drizzlePostgres,
  },
  {
    name: 'MySQL',
    has: hasMariadb,
    start: startMariadb,
    drivers: ['mysql2'],
    tables: [
      'create table books (id int auto_increment primary key, title varchar(100) not null)',
      'create table stock (id int primary key, copies int not null)',
    ],
    inside: 'select @@in_transaction as inside',
    Dialect: MysqlDialect,
    // Both have `execute` and `transaction`.
    drizzle: drizzleMysql as unknown as typeof drizzlePostgres,
  },
] as const

describe.each(kinds.filter(({ has }) => has))('$name', ({ name, start, drivers, tables, inside, Dialect, drizzle }) => {
  const isMysql = name === 'MySQL'
  let started: OwnServer
  let main: Server
  const clientOf = (server: Server) => server.services.get('databases').client()
  const run = (text: string, ...values: unknown[]) => clientOf(main).query(text, values)
  const titles = async () => (await run('select title from books order by title')).rows.map(({ title }) => title)

  async function serve(setUp: (server: Server) => void, options: DatabaseOptions = {}) {
    const server: Server = new Server({
      port: 0,
      plugins: { database: { url: started.url, ...options }, timeout: true },
    })
    setUp(server)
    await server.ready()
    return server
  }

  beforeAll(async () => {
    started = await start()
    main = await serve(() => {})
    for (const table of tables) await run(table)
  })
  beforeEach(async () => {
    await run('delete from books')
    await run('delete from stock')
  })
  afterAll(async () => {
    await main.close()
    await started.stop()
  })

  for (const driver of drivers) {
    describe(driver, () => {
      const served = (setUp: (server: Server) => void, options: DatabaseOptions = {}) =>
        serve(setUp, { driver, ...options })

      test('a route without the option has no transaction; one with it has one, begun at the first statement', async () => {
        await using server = await served((server) => {
          const handler = async (req: Request) => {
            const read = async () => (await req.database.query(inside)).rows[0]!.inside
            return { is: [await read(), await read()] }
          }
          server.get('/without', handler)
          server.get('/with', { transaction: true }, handler)
          server.get('/idle', { transaction: true }, () => ({ isIdle: true }))
        })
        const { is } = (await server.inject.get('/with')).body<{ is: unknown[] }>()
        if (isMysql) expect(is).toEqual([1, 1])
        else expect(is[0]).toBe(is[1])
        const without = (await server.inject.get('/without')).assertStatus(200).body<{ is: unknown[] }>()
        if (isMysql) expect(without.is).toEqual([0, 0])
        ;(await server.inject.get('/idle')).assertStatus(200)
        expect(clientOf(server).counts.waiting).toBe(0)
      })

      test('a commit that fails is the failure of the request', async () => {
        const sent: string[] = []
        await using server = await served((server) => {
          server.post('/books', { transaction: true }, async (req, res) => {
            await req.database.query("insert into books (title) values ('Emma'), ('Emma')")
            // MySQL checks everything before the commit, so it fails only with the connection.
            if (isMysql) {
              const { rows } = await req.database.query<{ id: number }>('select connection_id() as id')
              await run(`kill ${rows[0]!.id}`)
            }
            afterCommit(() => void sent.push('sent'))
            return res.status(201).json({ title: 'Emma' })
          })
        })
        ;(await server.inject.post('/books')).assertStatus(500)
        expect(await titles()).toEqual([])
        expect(sent).toEqual([])
      })

      if (!isMysql)
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

      if (!isMysql)
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
        const prepare = async () => {
          await database.query('begin')
          await database.query("prepare transaction 'one'")
        }
        await expect(database.transaction(prepare)).rejects.toThrow('"prepare transaction \'one\'" is not for query()')
      })

      test('a begin without a transaction is refused: the next caller would find itself in it', async () => {
        await using server = await served(() => {})
        for (const statement of [
          'begin',
          ' START TRANSACTION',
          'end',
          'abort',
          'savepoint a',
          'release a',
          'prepare transaction',
        ])
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
            drizzled: ReturnType<typeof drizzlePostgres>
          }
          await layers.own.insertInto('books').values({ title: 'own' }).execute()
          await layers.native.insertInto('books').values({ title: 'native' }).execute()
          await layers.drizzled.execute(sql`insert into books (title) values ('drizzled')`)
          for (const one of [layers.own, layers.native]) {
            await one
              .transaction()
              .execute(async (inner) => {
                await inner.insertInto('books').values({ title: 'inner' }).execute()
                // In a savepoint within, with the connection that was taken before it.
                await databases.client().transaction(() => inner.insertInto('books').values({ title: 'in' }).execute())
                expect((await inner.selectFrom('books').selectAll().execute()).length).toBe(5)
                throw new Error('taken back')
              })
              .catch(() => {})
          }
          await layers.drizzled
            .transaction(async (inner) => {
              await databases.client().transaction(() => inner.execute(sql`insert into books (title) values ('inner')`))
              throw new Error('taken back')
            })
            .catch(() => {})
          // Awaited by the transaction alone.
          await databases
            .client()
            .transaction(() => layers.drizzled.execute(sql`insert into books (title) values ('x'), ('y') returning id`))
          expect((await layers.own.selectFrom('books').selectAll().execute()).length).toBe(5)
          await databases.client().query("delete from books where title in ('x', 'y')")
          expect(await titles()).toEqual([])
          return res.status(400).json({})
        })
      },
      {
        layer: (({ database, pool }: { database: never; pool: never }) => ({
          own: new Kysely<Tables>({ dialect: kyselyDialect<PostgresDialect | MysqlDialect>(Dialect, database) }),
          native: new Kysely<Tables>({ dialect: new Dialect({ pool }) }),
          drizzled: drizzle({ client: pool }),
        })) as never,
      },
    )
    ;(await server.inject.post('/books')).assertStatus(400)
    expect(await titles()).toEqual([])
  })
})

describe.skipIf(!hasMariadb)('MySQL alone', () => {
  let mariadb: OwnServer
  let server: Server
  const client = () => server.services.get('databases').client()
  const query = (text: string, values?: readonly unknown[]) => client().query(text, values)
  beforeAll(async () => {
    mariadb = await startMariadb()
    const database = { url: mariadb.url.replace('mysql:', 'mariadb:'), statementTimeout: 1_500 }
    server = new Server({ port: 0, plugins: { database } })
    await server.ready()
    await query('create table books (id int primary key, title varchar(5) not null, copies int not null)')
  })
  beforeEach(async () => {
    await query('delete from books')
    await query("insert into books values (1, 'Emma', 1), (2, 'Ada', 1)")
  })
  afterAll(async () => {
    await server.close()
    await mariadb.stop()
  })
  const add = (id: number) => query('update books set copies = copies + 1 where id = $1', [id])
  const copies = async () => (await query('select copies from books order by id')).rows.map((row) => row.copies)

  /** Two transactions that wait for each other. */
  async function deadlock(work: (again: () => Promise<unknown>) => Promise<unknown>, retry = 0) {
    const both = deferred()
    let begun = 0
    const one = (first: number, second: number) =>
      client().transaction(
        async () => {
          await add(first)
          if (++begun === 2) both.resolve()
          await both.promise
          return work(() => add(second))
        },
        { retry },
      )
    return Promise.allSettled([one(1, 2), one(2, 1)])
  }

  test('statements have $1 or ?, and each has its count and the id of its row', async () => {
    const text = "select '$1', \"$2\", 'it\\'s $1' as c, $2 as a, $1 as b, $2 as d # $3"
    const { rows } = await query(text, ['one', 2])
    expect(rows).toEqual([{ $1: '$1', $2: '$2', c: "it's $1", a: 2, b: 'one', d: 2 }])
    expect((await query('select ? as a limit ?', [true, 1])).rows).toEqual([{ a: 1 }])
    await query('create table if not exists numbered (id int auto_increment primary key, n int)')
    expect(await query('insert into numbered (n) values (?), (?)', [1, 2])).toEqual({ rows: [], count: 2, insertId: 1 })
    expect(await query('update numbered set n = 1')).toEqual({ rows: [], count: 2 })
    await query('create or replace procedure p() begin select 1 as a; select 2 as b; end')
    expect(await query('call p()')).toMatchObject({ rows: [{ b: 2 }], count: 1 })
    await expect(query('select $2 as a', ['one'])).rejects.toThrow('undefined')
    expect((await query('select $1 as a, --\n $2 as b', [1, 2])).rows).toEqual([{ a: 1, b: 2 }])
  })

  test('a statement with more or fewer values than placeholders is refused: the server would read others', async () => {
    const other = expect.objectContaining({ code: 'PlaceholdersError' })
    await expect(query('select ? as a', [1, 2])).rejects.toEqual(other)
    await expect(query('select ? as a, ? as b', [1])).rejects.toEqual(other)
    await expect(query('select $1 as a, ? as b', [1, 2])).rejects.toThrow(
      'the statement "select $1 as a, ? as b" has 2 placeholders and 1 values for them: give each one, and write all as ? or all as $1, $2',
    )
    expect((await query("select ? as a, '?' as b, `c?` from (select 3 as `c?`) d # ?", [1])).rows).toEqual([
      { a: 1, b: '?', 'c?': 3 },
    ])
  })

  test('values are in no error, also of a query builder, and are escaped on a server without backslashes', async () => {
    await query("set global sql_mode = 'NO_BACKSLASH_ESCAPES'")
    const layer = (({ pool }: never) => new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })) as never
    await using other = new Server({
      plugins: { database: { url: mariadb.url, layer, pool: { max: 1, acquireTimeout: 2_000 } } },
    })
    await other.ready()
    await query('set global sql_mode = default')
    const built = other.services.get('databases').get() as unknown as Kysely<Tables>
    const text = "\\' or 1 = 1 -- "
    expect(await built.selectNoFrom(({ val }) => val(text).as('is')).execute()).toEqual([{ is: text }])
    const failed = await built
      .insertInto('books')
      .values({ id: 1, title: 'a secret' })
      .execute()
      .catch((error: object) => error)
    expect(failed).toMatchObject({ errno: expect.any(Number), sql: expect.stringContaining('(?, ?)') })
    expect(JSON.stringify(failed)).not.toContain('secret')
    // It waits for a connection no longer than a query of the plugin.
    await other.services
      .get('databases')
      .client()
      .transaction(async () => {
        await other.services.get('databases').client().query('select 1')
        const waiting = outsideTransactions(() => built.selectFrom('books').selectAll().execute())
        await expect(waiting).rejects.toMatchObject({ code: 'DatabaseBusyError' })
      })
  })

  test('what switches the commit of each statement off is refused, also outside of a transaction', async () => {
    const refused = { code: 'TransactionStatementError' }
    for (const text of ['set autocommit = 0', 'SET @a = 1, @@session.autocommit = OFF', '/* no */ begin'])
      await expect(query(text)).rejects.toMatchObject(refused)
    await query("set @a = 'autocommit'")
    for (const text of ['begin; delete from books', 'begin not atomic commit; end'])
      await expect(client().transaction(() => query(text))).rejects.toMatchObject(refused)
  })

  test('closing waits for a transaction that no request belongs to', async () => {
    const other = new Server({ plugins: { database: { url: mariadb.url } } })
    await other.ready()
    const database = other.services.get('databases').client()
    const begun = deferred()
    const more = deferred()
    const work = database.transaction(async () => {
      await database.query('update books set copies = 8')
      begun.resolve()
      await more.promise
      await database.query('update books set copies = copies + 1')
    })
    await begun.promise
    const closing = other.close()
    more.resolve()
    await Promise.all([work, closing])
    expect(await copies()).toEqual([9, 9])
  })

  test('closing ends a connection that is never given back, once its time is over', async () => {
    const other = new Server({ closeTimeout: 200, plugins: { database: { url: mariadb.url } } })
    await other.ready()
    const kept = await other.services.get('databases').client().acquire()
    await kept.query('select 1', [])
    await other.close().catch(() => {})
    await expect.poll(() => kept.query('select 1', []).catch(() => 'ended')).toBe('ended')
  })

  test('a procedure that commits the transaction is an error, and what comes later is not done', async () => {
    await query('create or replace procedure ends() begin update books set copies = 5 where id = 1; commit; end')
    await query('create or replace procedure ends_and_fails() begin commit; select * from nothing; end')
    const refused = {
      code: 'TransactionStatementError',
      message: expect.stringContaining('has committed the transaction'),
    }
    const done: unknown[] = []
    for (const text of [
      'call ends()',
      "execute immediate 'commit'",
      "execute immediate 'create or replace table a (b int)'",
    ]) {
      const work = client().transaction(async () => {
        await add(2)
        afterCommit(() => done.push(text))
        await query(text).catch(({ code }) => done.push(code))
        done.push(await add(2).catch(({ code }) => code))
      })
      await expect(work).rejects.toMatchObject(refused)
      expect(done.splice(0)).toEqual([refused.code, refused.code])
    }
    expect(await copies()).toEqual([5, 4])
    await expect(
      client().transaction(async () => {
        await query('call ends_and_fails()').catch(() => {})
        await add(2)
      }),
    ).rejects.toMatchObject(refused)
    // Without its transaction, it would have been committed.
    expect(await copies()).toEqual([5, 4])
    await query('create or replace procedure looks() begin select 1 as a; update books set copies = 7; end')
    await client().transaction(() => query('call looks()'))
    expect(await copies()).toEqual([7, 7])
    expect(client().counts.size - client().counts.idle).toBe(0)
  })

  test('a connection on which a procedure has turned autocommit off is not given to the next caller', async () => {
    await query('create or replace procedure turns_off() begin set autocommit = 0; end')
    await client().transaction(() => query('call turns_off()'))
    await query('call turns_off()')
    await Promise.all(Array.from({ length: 20 }, () => add(2)))
    expect(await copies()).toEqual([1, 21])
    expect((await query('select @@autocommit as a')).rows).toEqual([{ a: 1 }])
  })

  test('ids are forgotten without locking those that come meanwhile', async () => {
    await using other = new Server({ plugins: { database: { url: mariadb.url, inbox: { keep: 60_000 } } } })
    await other.ready()
    const database = other.services.get('databases').client()
    for (const id of ['a', 'z']) await database.transaction(() => once(id, () => {}))
    await query("update framework_inbox set done_at = 0 where id = 'a'")
    const third = new Server({ plugins: { database: { url: mariadb.url, inbox: { keep: 60_000 } } } })
    let booted: Promise<unknown> = Promise.resolve()
    await database.transaction(async () => {
      await once('m', () => {})
      await outsideTransactions(async () => {
        booted = third.ready()
        const waits = "select 1 from information_schema.processlist where info like 'delete from framework_inbox %'"
        await expect.poll(async () => (await query(waits)).count).toBe(1)
        for (const id of ['b', 'l']) expect(await database.transaction(() => once(id, () => {}))).toBe(true)
      })
    })
    await booted
    await third.close()
    const { rows } = await query('select cast(id as char) as id from framework_inbox order by id')
    expect(rows.map(({ id }) => id)).toEqual(['b', 'l', 'm', 'z'])
  })

  test('a connection is strict and has the time limits', async () => {
    await query("set global sql_mode = ''")
    await using other = new Server({ plugins: { database: { url: mariadb.url, statementTimeout: 1_500 } } })
    await other.ready()
    const run = (text: string) => other.services.get('databases').client().query(text)
    await expect(run("insert into books values (3, 'too long', 1)")).rejects.toMatchObject({ code: 'ER_DATA_TOO_LONG' })
    await expect(run('select sleep(20)')).rejects.toMatchObject({ errno: 1969 })
    await run('set global sql_mode = default')
  })

  test('what commits implicitly is refused in a transaction', async () => {
    const texts = ['create table a (b int)', ' TRUNCATE books', 'drop table books', 'alter table books add c int']
    texts.push(
      '/* * */ -- x\n # y\n drop table books',
      '/*!50000 drop table books */',
      '/*M!commit*/',
      'check table books',
    )
    for (const text of texts)
      await expect(client().transaction(() => query(text))).rejects.toMatchObject({ code: 'TransactionStatementError' })
    await client().transaction(() => query('create temporary table a (b int)'))
    expect((await client().transaction(() => query('-- drop it\n select 1 /* a */ as a'))).count).toBe(1)
  })

  test('a deadlock is repeated where it is asked for', async () => {
    await deadlock((again) => again(), 3)
    expect(await copies()).toEqual([3, 3])
  })

  test('a deadlock that is caught does not end in statements without a transaction', async () => {
    const late: unknown[] = []
    const outcomes = await deadlock(async (again) => {
      const failed = await again().then(
        () => false,
        () => true,
      )
      if (failed) late.push(await query("insert into books values (3, 'lost', 0)").catch(({ code }) => code))
    })
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'TransactionFailedError', cause: { errno: 1213 } },
    })
    expect(late).toEqual(['TransactionFailedError'])
    expect(await copies()).toEqual([2, 2])
  })

  test('a wait for a lock ends, and is repeated as well', async () => {
    const taken = await client().acquire()
    await taken.query('start transaction', [])
    await taken.query('update books set copies = 5 where id = 1', [])
    let attempts = 0
    const once = 1
    await client().transaction(
      async () => {
        await add(2)
        if (attempts++ > 0) await taken.query('commit', [])
        await add(1)
      },
      { retry: once },
    )
    taken.release()
    expect([attempts, await copies()]).toEqual([2, [6, 2]])
  })

  test('methods of a connection of the pool that begin and end a transaction are savepoints in one', async () => {
    let pool!: import('mysql2').Pool
    const layer = ((parts: { pool: import('mysql2').Pool }) => {
      pool = parts.pool
      return parts
    }) as never
    await using other = new Server({ plugins: { database: { url: mariadb.url, layer } } })
    await other.ready()
    const database = other.services.get('databases').client()
    const promised = pool.promise()
    await expect(
      database.transaction(async () => {
        const connection = await promised.getConnection()
        await connection.beginTransaction()
        await connection.execute('update books set copies = ? where id = 1', [7])
        await connection.rollback()
        connection.release()
        await promised.query("insert into books values (4, 'Eve', 1)")
        const [rows] = await promised.execute('select copies from books order by id')
        expect(rows).toEqual([{ copies: 1 }, { copies: 1 }, { copies: 1 }])
        expect(await copies()).toEqual([1, 1])
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await promised.execute('update books set copies = copies + 1')
    expect(await copies()).toEqual([2, 2])
    expect(database.counts).toMatchObject({ size: 1, idle: 1, waiting: 0 })
  })

  test('a server that dies in a transaction fails it, and the pool connects again', async () => {
    const lost = client().transaction(async () => {
      await add(1)
      await mariadb.kill()
      await add(1)
    })
    await expect(lost).rejects.toMatchObject({ fatal: true })
    await mariadb.restart()
    expect(await copies()).toEqual([1, 1])
    expect(client().counts.size - client().counts.idle).toBe(0)
  })
})
