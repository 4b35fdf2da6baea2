import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterCommit, memoryQueue, RouteCollection, Server } from 'framework'
import { afterAll, describe, expect, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { until } from '../../support/queues.ts'

async function makeServer(setUp: (server: Server) => void = () => {}) {
  const server = new Server({ plugins: { database: { url: 'sqlite::memory:' } } })
  setUp(server as never)
  await server.ready()
  await server.services
    .get('databases')
    .client()
    .query('create table books (id integer primary key, title text not null unique)')
  return server
}

const titles = async (server: {
  services: { get(name: 'databases'): { client(): { query(text: string): Promise<{ rows: unknown[] }> } } }
}) => (await server.services.get('databases').client().query('select title from books order by id')).rows

describe('SQLite', () => {
  test('statements return rows, counts and ids', async () => {
    await using server = await makeServer()
    const database = server.services.get('database')
    const inserted = await database.query('insert into books (title) values (?), (?)', ['Emma', 'Dune'])
    expect(inserted).toMatchObject({ rows: [], count: 2, insertId: 2 })
    expect(await database.query('select * from books where id = ?', [1])).toMatchObject({
      rows: [{ id: 1, title: 'Emma' }],
      count: 1,
    })
    expect((await database.query('update books set title = title')).count).toBe(2)
    expect((await database.query('insert into books (title) values (?) returning id', [new Date(0)])).rows).toEqual([
      { id: 3 },
    ])
  })

  test.each([
    [[['n1', 7], 5]],
    [[{ '?1': 'n1', '?2': 7 }, 5]],
    [['n1', [7]]],
  ])('an object or an array replaces no other value of the query: %j', async (values) => {
    await using server = await makeServer()
    const given = server.services.get('database').query('select title from books where title = ? and id = ?', values)
    await expect(given).rejects.toThrow('SQLite has no type for value')
  })

  test.each([
    ['n1\0x'],
    [2n ** 64n],
    [-(2n ** 63n) - 1n],
  ])('a value that a package would cut is refused: %s', async (value) => {
    await using server = await makeServer()
    const given = server.services.get('database').query('select ? as value', [value])
    await expect(given).rejects.toThrow('SQLite has no type for value 1')
  })

  test('placeholders are numbered as in Postgres, and text is left alone', async () => {
    await using server = await makeServer()
    const text = `select $2 as b, $1 as a, '$1' as "c$1", $2 as d /* $3 */ -- $4`
    const { rows } = await server.services.get('database').query(text, ['one', 'two'])
    expect(rows).toEqual([{ a: 'one', b: 'two', c$1: '$1', d: 'two' }])
  })

  test('a route with a transaction commits what it has done, and rolls back a failure', async () => {
    await using server = await makeServer((server) => {
      server.post('/books/:title', { transaction: true }, async (req, res) => {
        await req.database.query('insert into books (title) values (?)', [req.params.title])
        if (req.params.title === 'refused') return res.status(409).json({})
        if (req.params.title === 'thrown') throw new Error('no')
        return res.created()
      })
    })
    ;(await server.inject.post('/books/Emma')).assertStatus(201)
    ;(await server.inject.post('/books/refused')).assertStatus(409)
    ;(await server.inject.post('/books/thrown')).assertStatus(500)
    expect(await titles(server as never)).toEqual([{ title: 'Emma' }])
  })

  test('requests take turns; a savepoint takes back only its own work', async () => {
    const sent: string[] = []
    await using server = await makeServer((server) => {
      server.post('/books/:title', { transaction: true }, async (req, res) => {
        const { title } = req.params
        const { database } = req
        await database.query('insert into books (title) values (?)', [title])
        afterCommit(() => void sent.push(title))
        await database
          .transaction(async () => {
            await database.query('insert into books (title) values (?)', [`${title} 2`])
            afterCommit(() => void sent.push('never'))
            throw new Error('taken back')
          })
          .catch(() => {})
        await database.transaction(async () => {
          await database.query('insert into books (title) values (?)', [`${title} 3`])
          await database.transaction(async () => {
            afterCommit(() => void sent.push(`${title} 3`))
          })
        })
        return res.created()
      })
    })
    const all = await Promise.all(['a', 'b', 'c'].map((title) => server.inject.post(`/books/${title}`)))
    for (const res of all) res.assertStatus(201)
    expect(((await titles(server as never)) as { title: string }[]).map(({ title }) => title).sort()).toEqual([
      'a',
      'a 3',
      'b',
      'b 3',
      'c',
      'c 3',
    ])
    expect(sent.sort()).toEqual(['a', 'a 3', 'b', 'b 3', 'c', 'c 3'])
  })

  test('code that outlives its savepoint is refused, as it would become part of the rest', async () => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    let late: Promise<unknown> | undefined
    const insert = (title: string) => database.query('insert into books (title) values (?)', [title])
    await database.transaction(async () => {
      const release = deferred()
      await database
        .transaction(async () => {
          await insert('taken back')
          late = release.promise.then(() => insert('late'))
          throw new Error('no')
        })
        .catch(() => {})
      release.resolve()
      await expect(late).rejects.toMatchObject({ code: 'TransactionEndedError' })
      await insert('kept')
    })
    expect(await titles(server as never)).toEqual([{ title: 'kept' }])
  })

  test('a savepoint that is taken back takes nothing of the code around it, also with Promise.all', async () => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    const insert = (title: string) => database.query('insert into books (title) values (?)', [title])
    const opened = deferred()
    const sent: string[] = []
    const outer = () => [insert('around'), database.transaction(() => insert('sibling')), insert('after the sibling')]
    await database.transaction(async () => {
      const failing = database.transaction(async () => {
        await insert('taken back')
        opened.resolve()
        await turn()
        throw new Error('no')
      })
      // Some wait for a savepoint that is still to begin, others for one that has begun.
      const early = outer()
      await opened.promise
      const late = [database.query('select title from books order by id'), insert('late')]
      afterCommit(() => void sent.push('kept'))
      await expect(failing).rejects.toThrow('no')
      const [seen] = await Promise.all([late[0], ...early, ...late])
      expect(seen).toMatchObject({ rows: ['around', 'sibling', 'after the sibling'].map((title) => ({ title })) })
    })
    expect(await titles(server as never)).toEqual(
      ['around', 'sibling', 'after the sibling', 'late'].map((title) => ({ title })),
    )
    expect(sent).toEqual(['kept'])
  })

  test('a statement that a savepoint waits for, and that waits for it, fails in time', async () => {
    const server = new Server({ plugins: { database: { url: 'sqlite::memory:', pool: { acquireTimeout: 100 } } } })
    await server.ready()
    const database = server.services.get('databases').client()
    await database.query('create table books (id integer primary key, title text)')
    const insert = (title: string) => database.query('insert into books (title) values (?)', [title])
    await database.transaction(async () => {
      const opened = deferred()
      const shared = opened.promise.then(() => insert('shared'))
      const inner = database.transaction(async () => {
        opened.resolve()
        await shared
      })
      await expect(inner).rejects.toThrow('has waited for a savepoint beside it')
      await insert('kept')
    })
    expect(await titles(server as never)).toEqual([{ title: 'kept' }])
    await server.close()
  })

  test('code that outlives a savepoint that was kept belongs to the code around it', async () => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    const insert = (title: string) => database.query('insert into books (title) values (?)', [title])
    await database.transaction(async () => {
      const release = deferred()
      let late: Promise<unknown> | undefined
      await database.transaction(async () => {
        late = release.promise.then(() => Promise.all([insert('late'), database.transaction(() => insert('later'))]))
      })
      const failing = database.transaction(async () => {
        await insert('taken back')
        release.resolve()
        await turn()
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      await late
    })
    expect(await titles(server as never)).toEqual([{ title: 'late' }, { title: 'later' }])
  })

  test('a statement that rolls the transaction back ends it, also if its error is caught', async () => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    const insert = (title: string, or = '') => database.query(`insert ${or} into books (title) values (?)`, [title])
    await insert('Emma')
    const work = async (or: string) => {
      await insert('before')
      await expect(insert('Emma', or)).rejects.toThrow(/UNIQUE/)
      await insert('after')
    }
    await expect(database.transaction(() => work('or rollback'))).rejects.toMatchObject({
      code: 'TransactionFailedError',
      cause: { message: expect.stringMatching(/UNIQUE/) },
    })
    await expect(
      database.transaction(async () => {
        await database.transaction(() => work('or rollback')).catch(() => {})
      }),
    ).rejects.toMatchObject({ code: 'TransactionFailedError' })
    expect(await titles(server as never)).toEqual([{ title: 'Emma' }])
    await database.transaction(() => work(''))
    expect(await titles(server as never)).toEqual([{ title: 'Emma' }, { title: 'before' }, { title: 'after' }])
  })

  test.each([
    'savepoint one',
    'release one',
    'rollback to one',
    'begin immediate',
    '/* one */ commit',
  ])('"%s" is refused outside of a transaction', async (text) => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    await expect(database.query(text)).rejects.toMatchObject({ code: 'TransactionStatementError' })
  })

  test.each([
    ['/* one */ update books set title = title -- two', 2],
    ["with one as (select 1 as id) select * from books where title = 'update'", 0],
    ['with one as (select 1 as id) update books set title = title where id in (select id from one)', 1],
    ['with one as (select 1 as id) insert or ignore into books (id, title) select id, 3 from one', 0],
    ['replace into books (id, title) values (1, 4)', 1],
    ['delete from books', 2],
    [`select replace(title, 'a', 'b') from books where "title" = '; insert into'`, 0],
  ])('the count of %s', async (text, count) => {
    await using server = await makeServer()
    const database = server.services.get('databases').client()
    await database.query('insert into books (title) values (1), (2)')
    expect(await database.query(text)).toMatchObject({ rows: [], count })
  })

  describe('in a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'framework-sqlite-'))
    afterAll(() => rmSync(folder, { recursive: true }))
    let files = 0

    async function two(closeTimeout: number, others = folder) {
      const file = `${files++}.sqlite`
      const made = (its: string) => {
        const common = { router: new RouteCollection(), logger: memoryLogger(), gracefulShutdown: false, closeTimeout }
        // What waits for the other server waits as long as that takes to close.
        const pool = { acquireTimeout: 60_000 }
        const database = { url: `sqlite:${join(its, file)}`, pool, outbox: { pollInterval: 100 }, inbox: true }
        return new Server({ ...common, plugins: { database }, background: { queues: { run: true } } })
      }
      const servers = [made(folder), made(others)] as const
      for (const server of servers) await server.ready()
      const [first, second] = servers.map((server) => server.services.get('database'))
      await first!.query('create table counters (id integer primary key, value integer not null)')
      await first!.query('insert into counters values (1, 0)')
      return { servers, first: first!, second: second! }
    }

    const raise = 'update counters set value = value + 1'
    const value = async (database: Awaited<ReturnType<typeof two>>['first']) =>
      (await database.query('select value from counters')).rows

    test.for([
      ['one name', folder],
      ['two names', join(folder, 'link')],
    ])('of %s, the servers of a process take turns, whose statements would block each other', async ([, others]) => {
      if (others !== folder) symlinkSync(folder, others!, 'junction')
      const { servers, first, second } = await two(10_000, others)
      const work = Array.from({ length: 10 }, (_, i) => {
        const database = i % 2 === 0 ? first : second
        return [
          database.query(raise),
          database.transaction(async () => {
            await database.query(raise)
            await new Promise(setImmediate)
            await database.query(raise)
          }),
        ]
      })
      await Promise.all(work.flat())
      expect(await value(first)).toEqual([{ value: 30 }])
      for (const server of servers) await server.close()
    })

    test.for([
      ['', false],
      [', also while its outbox waits', true],
    ] as const)('a transaction that never ends keeps it from no one when its server has closed%s', async ([
      ,
      isBusy,
    ]) => {
      // The hook has half of the time, and a tenth of that for closing after it has waited.
      const { servers, first, second } = await two(4_000)
      // With a message, the outbox looks for others.
      if (isBusy) await first.transaction(() => memoryQueue(`busy-${files}`).for(servers[0]).publish(1))
      const begun = deferred()
      const stuck = deferred()
      const open = first.transaction(async () => {
        await first.query(raise)
        begun.resolve()
        await stuck.promise
      })
      await begun.promise
      const waiting = second.query(raise)
      if (isBusy) await until(() => first.counts.waiting > 1, 'the outbox')
      await servers[0].close()
      await waiting
      expect(await value(second)).toEqual([{ value: 1 }])
      stuck.resolve()
      await expect(open).rejects.toThrow()
      await second.query(raise)
      await servers[1].close()
    })
  })
})
