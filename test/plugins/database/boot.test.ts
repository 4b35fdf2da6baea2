import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseOptions, Server } from 'framework'
import { testServer } from 'framework/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checks } from '../../../plugins/database/doctor.ts'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

const boot = async (database: DatabaseOptions) => {
  await using server: Server = new Server({ plugins: { database } })
  await server.ready()
}

describe('the boot says why a database cannot be used, without its password', () => {
  for (const [driver, kind] of [
    ['pg', 'postgres'],
    ['postgres', 'postgres'],
    ['mysql2', 'mysql'],
  ] as const)
    test(`${driver}: a server that does not exist`, async () => {
      const url = `${kind}://app:hunter2@127.0.0.1:1/shop`
      const failure = await boot({ driver, url, pool: { acquireTimeout: 2_000 } }).catch((error: Error) => error)
      expect(failure).toMatchObject({ cause: { code: 'DatabaseConnectError' } })
      expect((failure as Error).message).toMatch(
        /"main" at \w+:\/\/127.0.0.1:1\/shop cannot be used: nothing listens there. Start the server, or correct host and port in the url/,
      )
      expect((failure as Error).message).not.toContain('hunter2')
    })

  for (const [driver, kind] of [
    ['pg', 'postgres'],
    ['mysql2', 'mysql'],
  ] as const)
    test(`${driver}: a server that does not respond`, async () => {
      const silent = createServer(() => {}).listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      const database = { driver, url: `${kind}://app@127.0.0.1:${port}/shop`, pool: { acquireTimeout: 200 } }
      await expect(boot(database)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('it does not respond'), cause: { code: 'DatabaseBusyError' } },
      })
      silent.close()
    })

  test.each([
    ['/does/not/exist/app.sqlite', 'the file cannot be opened. Correct the path in the url (DATABASE_URL), or create'],
    [import.meta.dirname, 'the file cannot be opened. Correct the path'],
    [import.meta.filename, 'the file is not a database of SQLite. Move it away, or correct the path'],
  ])('a file that cannot be used: %s', async (path, why) => {
    await expect(boot({ url: `sqlite:${path}` })).rejects.toThrow(`cannot be used: ${why}`)
  })

  test('a named one', async () => {
    const named = { reports: { url: 'sqlite:/does/not/exist/app.sqlite' } }
    await expect(boot({ url: 'sqlite::memory:', named })).rejects.toThrow(/the database "reports"/)
  })

  const kinds = [
    {
      name: 'Postgres',
      has: hasPostgres,
      start: () => startPostgres('-c', 'max_connections=12'),
      drivers: ['pg', 'postgres'],
      allows: 9,
    },
    {
      name: 'MySQL',
      has: hasMariadb,
      start: () => startMariadb('--max-connections=12'),
      drivers: ['mysql2'],
      allows: 12,
    },
  ] as const
  describe.each(kinds.filter(({ has }) => has))('$name', ({ start, drivers: all, allows }) => {
    let started: OwnServer
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started.stop())

    for (const driver of all) {
      test(`${driver}: a database that does not exist`, async () => {
        const url = started.url.replace(/\w+$/, 'nothing')
        await expect(boot({ driver, url })).rejects.toThrow(/no database of that name. Create it/)
      })

      test(`${driver}: a user that does not exist`, async () => {
        const url = started.url.replace(/\w+@/, 'nobody:hunter2@')
        const failure = await boot({ driver, url }).catch((error: Error) => error)
        expect((failure as Error).message).toMatch(/refuses the user or the password/)
        expect((failure as Error).message).not.toContain('hunter2')
      })

      test(`${driver}: a caller waits for a connection only for a time`, async () => {
        const pool = { max: 1, acquireTimeout: 2_000 }
        await using server: Server = new Server({ plugins: { database: { driver, url: started.url, pool } } })
        await server.ready()
        const client = server.services.get('databases').client()
        await client.transaction(async () => {
          await client.query('select 1')
          const outside = server.services.get('databases').client().acquire()
          await expect(outside).rejects.toMatchObject({ code: 'DatabaseBusyError', status: 503 })
        })
        await client.query('select 1')
      })
    }

    test('the doctor finds a pool that is larger than the server allows, and one without a time limit', async () => {
      const database = { url: started.url, pool: { max: 50 }, statementTimeout: false } as const
      await using server: Server = new Server({ plugins: { database } })
      await server.ready()
      const plugin = server.listing.plugins.find((one) => one.definition.name === 'database')!
      const { system } = server.services.get('databases').client()
      const settings = { main: { system, ...database }, named: {} }
      const input = { server, listing: server.listing, plugin, settings, services: server.services, booted: true }
      const found = await Promise.all(checks.map((check) => check.find(input as never)))
      const problems = found.flat().map((one) => one?.problem)
      expect(problems.join('\n')).toMatch(
        new RegExp(`may run forever[^]*may open 50 connections in all processes, but the server allows ${allows}`),
      )
    })
  })
})

describe('without an address', () => {
  test('a file of this folder is used, and not in production', async () => {
    const [before, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), 'framework-database-'))]
    process.chdir(folder)
    try {
      await boot({})
      process.env.NODE_ENV = 'production'
      await expect(boot({})).rejects.toThrow(/DATABASE_URL/)
    } finally {
      process.env.NODE_ENV = 'test'
      process.chdir(before)
      rmSync(folder, { recursive: true })
    }
  })
})

test('a malformed address is refused, and not shown', () => {
  const make = () => new Server({ plugins: { database: { url: 'postgres://app:hun/ter2@db.internal/shop' } } })
  expect(make).toThrow(/an address: postgres:\/\//)
  expect(make).not.toThrow(/ter2/)
})

test('a package that the runtime does not have', async () => {
  await expect(boot({ driver: 'bun:sqlite', url: 'sqlite::memory:' })).rejects.toThrow(/this runtime has no bun:sqlite/)
})

describe('a test of a whole application', () => {
  test('has an own SQLite in memory, and leaves the file alone', async () => {
    const url = 'sqlite:/does/not/exist/app.sqlite'
    const make = () => new Server({ plugins: { database: { url, named: { reports: { url } } } } })
    await using server = await testServer(make)
    await server.ready()
    const database = server.services.get('database')
    await database.query('create table books (title text)')
    expect((await database.query('select * from books')).rows).toEqual([])
    await server.services.get('databases').client('reports').query('create table books (title text)')
  })

  test('keeps a Postgres', async () => {
    const url = 'postgres://app@127.0.0.1:1/shop'
    await using server = await testServer(() => new Server({ plugins: { database: { url } } }))
    await expect(server.ready()).rejects.toThrow(/127.0.0.1:1\/shop cannot be used/)
  })
})
