import { existsSync } from 'node:fs'
import { Server } from 'framework'
import { testDatabase, testServer } from 'framework/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const statements = ['create table books (title text not null)', "insert into books values ('Emma')"]
const open = (url: string) => new Server({ gracefulShutdown: false, plugins: { database: { url } } })

async function migrate(url: string) {
  const server = open(url)
  await server.ready()
  for (const one of statements) await server.services.get('database').query(one)
  await server.close()
}

async function titles(url: string, more?: string) {
  const server = open(url)
  await server.ready()
  try {
    const database = server.services.get('database')
    if (more !== undefined) await database.query(`insert into books values ('${more}')`)
    return (await database.query<{ title: string }>('select title from books')).rows.map(({ title }) => title)
  } finally {
    await server.close()
  }
}

describe('a database of SQLite', () => {
  test('is a migrated file, which goes', async () => {
    const database = await testDatabase({ url: 'sqlite:', template: { key: statements, migrate } })
    expect(await titles(database.url, 'Persuasion')).toEqual(['Emma', 'Persuasion'])
    const file = database.url.slice('sqlite:'.length)
    expect(existsSync(file)).toBe(true)
    await database.drop()
    expect(existsSync(file)).toBe(false)
  })

  test('keeps its tables in a server under test', async () => {
    const database = await testDatabase({ url: 'sqlite:', template: { key: statements, migrate } })
    const server = await testServer(open(database.url))
    await server.ready()
    expect((await server.services.get('database').query('select * from books')).count).toBe(1)
    await server.close()
    await database.drop()
  })

  test.each([
    [{ url: 'mongodb://127.0.0.1/a' }],
    [{ url: 'sqlite:file' }],
    [{ template: {} }],
    [{ template: { migrate } }],
    [{ templates: {} }],
  ])('options that cannot be meant: %j', async (options) => {
    await expect(testDatabase(options as never)).rejects.toMatchObject({ code: 'OptionError' })
  })
})

describe.skipIf(!hasPostgres)('a database of Postgres', () => {
  let postgres: OwnServer
  let admin: pg.Client
  beforeAll(async () => {
    postgres = await startPostgres()
    admin = new pg.Client(postgres.url)
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await postgres.stop()
  })
  const names = async () =>
    (await admin.query("select datname from pg_database where datname like 'framework_test_%'")).rows.map(
      ({ datname }) => datname as string,
    )

  test('is a copy of a template that is migrated once, also by several files at once', async () => {
    let count = 0
    const template = {
      key: statements,
      migrate: (url: string) => {
        count++
        return migrate(url)
      },
    }
    const all = await Promise.all([1, 2, 3, 4].map(() => testDatabase({ url: postgres.url, template })))
    expect(count).toBe(1)
    expect(new Set(all.map(({ url }) => url)).size).toBe(4)
    expect(await titles(all[0]!.url, 'Persuasion')).toEqual(['Emma', 'Persuasion'])
    expect(await titles(all[1]!.url)).toEqual(['Emma'])
    // A connection that is left open does not keep it.
    const left = new pg.Client(all[0]!.url)
    left.on('error', () => {})
    await left.connect()
    await Promise.all(all.map((one) => one.drop()))
    await all[0]!.drop()
    expect(await names()).toEqual([expect.stringMatching(/^framework_test_\d+_t[0-9a-f]{16}$/)])
    await using again = await testDatabase({ url: postgres.url, template })
    expect(await titles(again.url)).toEqual(['Emma'])
    expect(count).toBe(1)
  })

  test('another key is another template, and what tests of an earlier day have left goes', async () => {
    await admin.query('create database framework_test_1700000000_aa')
    await using database = await testDatabase({
      url: postgres.url,
      template: { key: [...statements, () => 1], migrate },
    })
    expect(await titles(database.url)).toEqual(['Emma'])
    const all = await names()
    expect(all.filter((name) => /_t[0-9a-f]{16}$/.test(name))).toHaveLength(2)
    expect(all).not.toContain('framework_test_1700000000_aa')
  })

  test('without a template it is empty', async () => {
    await using database = await testDatabase({ url: postgres.url })
    await expect(titles(database.url)).rejects.toThrow('does not exist')
  })

  test('a failed migration leaves nothing, and is not kept', async () => {
    const before = await names()
    const template = { key: 'failing', migrate: () => Promise.reject(new Error('no such column')) }
    for (let i = 0; i < 2; i++)
      await expect(testDatabase({ url: postgres.url, template })).rejects.toThrow('no such column')
    expect(await names()).toEqual(before)
  })

  test('says what is wrong: rights, a server that is away, a database that does not exist', async () => {
    await admin.query("create role reader login password 'hidden-word'")
    const { host } = new URL(postgres.url)
    const failing = (url: string) => expect(testDatabase({ url })).rejects
    await failing(`postgres://reader:hidden-word@${host}/postgres`).toThrow(
      `there is no database for tests at postgres://${host}/postgres: its user may not create databases. Give it the right: alter role … createdb`,
    )
    await failing('postgres://reader:hidden-word@127.0.0.1:1/postgres').toThrow('127.0.0.1:1/postgres: nothing listens')
    await failing(`postgres://postgres@${host}/missing`).toThrow('database "missing" does not exist')
  })
})

describe.skipIf(!hasMariadb)('a database of MySQL', () => {
  let mariadb: OwnServer
  beforeAll(async () => {
    mariadb = await startMariadb()
  })
  afterAll(() => mariadb.stop())
  const run = async (text: string) => {
    await using server = open(mariadb.url)
    await server.ready()
    return (await server.services.get('database').query<{ name: string }>(text)).rows.map(({ name }) => name)
  }
  const names = () =>
    run("select schema_name as name from information_schema.schemata where schema_name like 'framework\\_test%'")

  test('is migrated, is removed at the end, and removes what tests of an earlier day have left', async () => {
    await run('create database framework_test_1700000000_aa')
    const all = await Promise.all([1, 2].map(() => testDatabase({ url: mariadb.url, template: { key: 1, migrate } })))
    expect(await titles(all[0]!.url, 'Persuasion')).toEqual(['Emma', 'Persuasion'])
    expect(await titles(all[1]!.url)).toEqual(['Emma'])
    expect(await names()).toHaveLength(2)
    await Promise.all(all.map((one) => one.drop()))
    await all[0]!.drop()
    const template = { key: 'failing', migrate: () => Promise.reject(new Error('no such column')) }
    await expect(testDatabase({ url: mariadb.url, template })).rejects.toThrow('no such column')
    expect(await names()).toEqual([])
  })

  test('says what is wrong: rights, a server that is away', async () => {
    await run("create user reader identified by 'hidden-word'")
    const { host } = new URL(mariadb.url)
    const failing = (url: string) => expect(testDatabase({ url })).rejects
    await failing(`mysql://reader:hidden-word@${host}`).toThrow(
      `there is no database for tests at mysql://${host}: its user may not create databases. Give it the right: grant all`,
    )
    await failing('mysql://reader:hidden-word@127.0.0.1:1/test').toThrow('127.0.0.1:1/test: nothing listens')
  })
})
