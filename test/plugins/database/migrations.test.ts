import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseOptions, kyselyDialect, kyselyMigrations, Server, sqlMigrations } from 'framework'
import { testDatabase, testServer } from 'framework/testing'
import { Kysely, type MigrationProvider, Migrator, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const serve = (database: object, logger = memoryLogger()) =>
  new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger },
    plugins: { database: database as DatabaseOptions },
  })

const books = {
  '001-books': ['create table books (title varchar(100) not null)', 'create index titles on books (title)'],
  '002-emma': "insert into books values ('Emma')",
}
const all = sqlMigrations(books)
const count = async (server: Server) =>
  (await server.services.get('databases').client().query('select * from books')).count

/** The same on all systems; where a migration `stays`, those before one that fails have run. */
function behaviour(makeUrl: () => Promise<string>, more: object = {}, stays = false) {
  const given = async (migrations: object = all) => ({ url: await makeUrl(), migrations, ...more })

  test('run once, in their order', async () => {
    await using server = serve(await given())
    await server.ready()
    const databases = server.services.get('databases')
    expect(await databases.pendingMigrations()).toEqual(['001-books', '002-emma'])
    // Asking changes nothing.
    expect(await databases.pendingMigrations()).toEqual(['001-books', '002-emma'])
    expect(await databases.migrate()).toEqual(['001-books', '002-emma'])
    expect(await databases.migrate()).toEqual([])
    expect(await databases.pendingMigrations()).toEqual([])
    expect(await count(server)).toBe(1)
  })

  if (!stays)
    test('all or none', async () => {
      const options = await given(sqlMigrations({ ...books, '003-wrong': 'insert into nothing values (1)' }))
      await using server = serve(options)
      await server.ready()
      await expect(server.services.get('databases').migrate()).rejects.toThrow(/migration "003-wrong" failed.*nothing/)
      expect(await server.services.get('databases').pendingMigrations()).toHaveLength(3)
      await expect(count(server)).rejects.toThrow(/books/)
    })

  test('of several servers at once run once', async () => {
    const options = await given()
    const servers = [1, 2, 3].map(() => serve(options))
    await Promise.all(servers.map((server) => server.ready()))
    // Their connections remember that there is no table.
    for (const server of servers) await server.services.get('databases').pendingMigrations()
    const runs = await Promise.all(servers.map((server) => server.services.get('databases').migrate()))
    expect(runs.flat()).toEqual(['001-books', '002-emma'])
    expect(await count(servers[0]!)).toBe(1)
    await Promise.all(servers.map((server) => server.close()))
  })

  test('a server does not listen without them, or warns', async () => {
    const options = await given()
    const refused = serve(options)
    await expect(refused.listen()).rejects.toThrow(
      'migrations of the database "main" have not run: 001-books, 002-emma. Run them: npm run framework -- migrate',
    )
    await refused.close()
    const logger = memoryLogger()
    await using warned = serve({ ...options, migrations: { ...all, whenPending: 'warn' } }, logger)
    await warned.listen()
    expect(JSON.stringify(logger)).toContain('001-books, 002-emma')
    await warned.services.get('databases').migrate()
    await using served = serve(options)
    await served.listen()
  })

  test('seeds are one transaction', async () => {
    const seed = async ({ database }: { database: { query(text: string): Promise<unknown> } }) => {
      await database.query("insert into books values ('Persuasion')")
      throw new Error('half way')
    }
    await using server = serve(await given({ ...all, seed }))
    await server.ready()
    const databases = server.services.get('databases')
    await databases.migrate()
    await expect(databases.seed()).rejects.toThrow('half way')
    expect(await count(server)).toBe(1)
  })
}

const provider: MigrationProvider = {
  getMigrations: async () => ({
    '001_books': { up: (db) => db.schema.createTable('books').addColumn('title', 'text').execute() },
    '002_emma': { up: async (db) => void (await db.insertInto('books').values({ title: 'Emma' }).execute()) },
  }),
}
const failing: MigrationProvider = {
  getMigrations: async () => ({
    ...(await provider.getMigrations()),
    '003_wrong': { up: (db) => db.schema.alterTable('nothing').addColumn('a', 'text').execute() },
  }),
}
const ofKysely = (dialect: typeof PostgresDialect | typeof SqliteDialect | typeof MysqlDialect, from = provider) => ({
  layer: ({ database }: { database: never }) =>
    new Kysely<object>({ dialect: kyselyDialect(dialect as typeof PostgresDialect, database) }),
  migrations: kyselyMigrations((db: Kysely<object>) => new Migrator({ db, provider: from })),
})

async function withKysely(
  makeUrl: () => Promise<string>,
  dialect: typeof PostgresDialect | typeof SqliteDialect | typeof MysqlDialect,
  stays = false,
) {
  const first = await makeUrl()
  const wrong = serve({ url: first, ...ofKysely(dialect, failing) })
  await wrong.ready()
  await expect(wrong.services.get('databases').migrate()).rejects.toThrow(/nothing/)
  if (stays) expect(await count(wrong)).toBe(1)
  else await expect(count(wrong)).rejects.toThrow(/books/)
  await wrong.close()
  const url = stays ? await makeUrl() : first
  const servers = [1, 2].map(() => serve({ url, ...ofKysely(dialect) }))
  await Promise.all(servers.map((server) => server.ready()))
  expect(await servers[0]!.services.get('databases').pendingMigrations()).toEqual(['001_books', '002_emma'])
  const runs = await Promise.all(servers.map((server) => server.services.get('databases').migrate()))
  expect(runs.flat()).toEqual(['001_books', '002_emma'])
  expect(await count(servers[0]!)).toBe(1)
  await Promise.all(servers.map((server) => server.close()))
}

describe('migrations of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'framework-migrations-'))
  let files = 0
  const makeUrl = async () => `sqlite:${join(folder, `${files++}.sqlite`)}`
  afterAll(() => rmSync(folder, { recursive: true }))
  behaviour(makeUrl)

  test('of Kysely', async () => withKysely(makeUrl, SqliteDialect))

  test('a database in memory has them when it boots, in a server under test as well', async () => {
    await using memory = serve({ url: 'sqlite::memory:', migrations: all })
    await memory.listen()
    expect(await count(memory)).toBe(1)
    const tested = await testServer(serve({ url: await makeUrl(), migrations: all }))
    await tested.ready()
    expect(await count(tested)).toBe(1)
    await tested.close()
  })

  test('several statements in one text are refused, as all but the first would be ignored', async () => {
    const wrong = sqlMigrations({ '001-two': 'create table books (title text); create table shelf (title text);' })
    await using server = serve({ url: await makeUrl(), migrations: wrong })
    await server.ready()
    const databases = server.services.get('databases')
    await expect(databases.migrate()).rejects.toMatchObject({ cause: { code: 'SeveralStatementsError' } })
    expect(await databases.pendingMigrations()).toEqual(['001-two'])
    const trigger =
      'create trigger t after insert on log begin delete from log where n = 1; delete from log where n = 2; end;'
    for (const one of [
      'create table log (n int, text text);',
      trigger,
      "insert into log values (3, 'a; b') -- c; d",
      'select "a;b" from (select 1 as "a;b") /* e; f */ ;  ',
    ])
      await databases.client().query(one)
  })

  describe('make a table anew', () => {
    const before = {
      '001-tables': [
        'create table books (id integer primary key, title text)',
        'create table reviews (id integer primary key, book integer references books on delete cascade)',
        "insert into books values (1, 'Emma')",
        'insert into reviews values (1, 1), (2, 1)',
      ],
    }
    const anew = [
      'pragma foreign_keys = off',
      'create table books_new (id integer primary key, title text not null)',
      'insert into books_new select * from books',
      'drop table books',
      'alter table books_new rename to books',
      'PRAGMA foreign_keys=ON;',
    ]
    const migrated = async (url: string, steps: Parameters<typeof sqlMigrations>[0]) => {
      const server = serve({ url, migrations: sqlMigrations(steps) })
      await server.ready()
      return [server, server.services.get('databases')] as const
    }

    test('and keep what refers to it; later statements are checked again', async () => {
      const url = await makeUrl()
      const [first, old] = await migrated(url, before)
      await old.migrate()
      await first.close()
      const [server, databases] = await migrated(url, { ...before, '002-anew': anew })
      await databases.migrate()
      const query = (text: string) => databases.client().query(text)
      expect((await query('select * from reviews')).count).toBe(2)
      await expect(query('insert into reviews values (3, 7)')).rejects.toThrow(/FOREIGN KEY/)
      await expect(databases.client().transaction(() => query('insert into reviews values (3, 7)'))).rejects.toThrow(
        /FOREIGN KEY/,
      )
      await query('delete from books')
      expect((await query('select * from reviews')).count).toBe(0)
      await server.close()
    })

    test('but leave no row that refers to a missing one', async () => {
      const [server, databases] = await migrated(await makeUrl(), { ...before, '002-less': ['delete from books'] })
      await expect(databases.migrate()).rejects.toThrow(
        'the migrations of the database "main" would leave rows that refer to missing ones, so none of this run has run: row 1 of reviews to books, row 2 of reviews to books. SQLite',
      )
      expect(await databases.pendingMigrations()).toEqual(['001-tables', '002-less'])
      await databases.client().query('create table books (id integer primary key)')
      await databases.client().query('create table reviews (book integer references books)')
      await expect(databases.client().query('insert into reviews values (7)')).rejects.toThrow(/FOREIGN KEY/)
      await server.close()
    })

    test('elsewhere, the switch that a transaction ignores is refused', async () => {
      const [server, databases] = await migrated(await makeUrl(), {})
      const database = databases.client()
      for (const text of ['pragma foreign_keys = off', '-- all\nPRAGMA main.foreign_keys(0)'])
        await expect(database.transaction(() => database.query(text))).rejects.toThrow(/SQLite ignores "/)
      expect((await database.transaction(() => database.query('pragma foreign_keys'))).rows).toEqual([
        { foreign_keys: 1 },
      ])
      await server.close()
    })
  })

  test('without them, there is nothing to run', async () => {
    await using server = serve({
      url: 'sqlite::memory:',
      named: { other: { url: 'sqlite::memory:', migrations: all } },
    })
    await server.listen()
    const databases = server.services.get('databases')
    expect(await databases.pendingMigrations()).toEqual([])
    await expect(databases.migrate()).rejects.toThrow('the database "main" has no migrations: add it to its options')
    await expect(databases.seed('other')).rejects.toThrow('the database "other" has no migrations.seed')
    await expect(databases.migrate('none')).rejects.toMatchObject({ code: 'DatabaseNameError' })
  })

  test.each([
    [{ init: 'create table a (b int)', 2: 'drop table a' }, /sqlMigrations\.2.*front/],
    [['create table a (b int)'], /is an array/],
    [{ '001': 5 }, /sqlMigrations\.001.*statement/],
    [undefined, /sqlMigrations/],
  ])('wrong steps are refused %#', (steps, message) => {
    expect(() => sqlMigrations(steps as never)).toThrow(message)
  })

  test.each([
    [{}],
    [{ run: () => {} }],
    [{ ...all, whenPending: 'ask' }],
    [{ ...all, seeds: () => {} }],
    [() => {}],
  ])('options that cannot be meant %#', (migrations) => {
    expect(() => serve({ url: 'sqlite::memory:', migrations })).toThrow(/option.*migrations/is)
  })
})

describe.skipIf(!hasPostgres)('migrations of Postgres', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  const makeUrl = async () => (await testDatabase({ url: postgres.url })).url
  for (const driver of ['pg', 'postgres'] as const) describe(driver, () => behaviour(makeUrl, { driver }))

  test('of Kysely', async () => withKysely(makeUrl, PostgresDialect))

  test('take longer than a statement may', async () => {
    const slow = sqlMigrations({ '001-slow': 'select pg_sleep(2)' })
    await using server = serve({ url: await makeUrl(), migrations: slow, statementTimeout: 1_500 })
    await server.ready()
    expect(await server.services.get('databases').migrate()).toEqual(['001-slow'])
    await expect(server.services.get('databases').client().query('select pg_sleep(2)')).rejects.toThrow('timeout')
  })
})

describe.skipIf(!hasMariadb)('migrations of MySQL', () => {
  let mariadb: OwnServer
  beforeAll(async () => {
    mariadb = await startMariadb()
  })
  afterAll(() => mariadb.stop())
  const makeUrl = async () => (await testDatabase({ url: mariadb.url })).url
  behaviour(makeUrl, {}, true)

  test('of Kysely', async () => withKysely(makeUrl, MysqlDialect, true))

  test('one that fails half way says what stays, and the next run begins with it', async () => {
    const url = await makeUrl()
    const more = ['create table shelf (n int)', 'insert into shelf values (1)', 'insert into nothing values (1)']
    await using server = serve({ url, migrations: sqlMigrations({ ...books, '003-shelf': more }) })
    await server.ready()
    const databases = server.services.get('databases')
    const failure = await databases.migrate().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'MigrationError', cause: { code: 'ER_NO_SUCH_TABLE' } })
    expect(String(failure)).toMatch(
      /"003-shelf" failed: .*, in "insert into nothing values \(1\)". Those before it have run, and so has this one up to/,
    )
    expect(await databases.pendingMigrations()).toEqual(['003-shelf'])
    // Committed alone: what came after the table was not part of a transaction any more.
    expect((await databases.client().query('select * from shelf')).count).toBe(1)
    const plain = {
      ...books,
      '003-emma': ["insert into books values ('Persuasion')", 'insert into nothing values (1)'],
    }
    await using another = serve({ url, migrations: sqlMigrations(plain) })
    await another.ready()
    await expect(another.services.get('databases').migrate()).rejects.toMatchObject({ code: 'MigrationError' })
    expect(await count(another)).toBe(1)
  })

  test('a step that ends its transaction is refused, and has not run', async () => {
    const url = await makeUrl()
    const emma = "insert into books values ('Persuasion')"
    for (const steps of [
      [emma, 'commit'],
      [emma, 'commit', emma],
      [emma, 'rollback', 'insert into nothing values (1)'],
      [emma, 'begin', 'commit', 'commit'],
    ]) {
      await using server = serve({ url, migrations: sqlMigrations({ ...books, '003-emma': steps }) })
      await server.ready()
      const databases = server.services.get('databases')
      await expect(databases.migrate()).rejects.toMatchObject({
        code: 'MigrationError',
        cause: { code: 'TransactionStatementError' },
      })
      expect(await databases.pendingMigrations()).toEqual(['003-emma'])
      expect(await count(server)).toBe(1)
    }
    await using server = serve({ url, migrations: sqlMigrations({ ...books, '003-emma': ['begin', emma, 'commit'] }) })
    await server.ready()
    expect(await server.services.get('databases').migrate()).toEqual(['003-emma'])
    expect(await count(server)).toBe(2)
  })

  test('take longer than a statement may', async () => {
    const slow = sqlMigrations({ '001-slow': 'select sleep(2)' })
    await using server = serve({ url: await makeUrl(), migrations: slow, statementTimeout: 1_500 })
    await server.ready()
    expect(await server.services.get('databases').migrate()).toEqual(['001-slow'])
    const { counts } = server.services.get('databases').client()
    expect(counts.size - counts.idle).toBe(0)
    await expect(server.services.get('databases').client().query('select sleep(2)')).rejects.toThrow(
      'max_statement_time',
    )
  })
})
