import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { drizzled, prints } from './drizzle.ts'

/** What `drizzle-kit generate` has written. */
function generated(tags: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'framework-drizzle-'))
  const entries = tags.map((tag, idx) => ({ idx, version: '7', when: idx + 1, tag, breakpoints: true }))
  mkdirSync(join(folder, 'meta'))
  writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }))
  const create = 'create table prints (id integer primary key generated always as identity, book text not null);'
  writeFileSync(join(folder, '0000_prints.sql'), create)
  writeFileSync(join(folder, '0001_index.sql'), 'create index books on prints (book);')
  return folder
}

describe.skipIf(!hasPostgres)('with Drizzle', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  async function serve(folder: string) {
    const named = { drizzled: drizzled(postgres.url, folder) }
    const server = new Server({ router: new RouteCollection(), plugins: { database: { url: postgres.url, named } } })
    await server.ready()
    return server
  }

  test('its migrations run once, and its queries belong to the transaction', async () => {
    const [first, second] = [generated(['0000_prints']), generated(['0000_prints', '0001_index'])]
    await using server = await serve(first)
    const databases = server.services.get('databases')
    expect(await databases.pendingMigrations('drizzled')).toEqual(['0000_prints'])
    await using later = await serve(second)
    const runs = [server, later].map((one) => one.services.get('databases').migrate('drizzled'))
    expect((await Promise.all(runs)).flat().sort()).toEqual(['0000_prints', '0001_index'])
    expect(await databases.pendingMigrations('drizzled')).toEqual([])
    const insert = (fails: boolean) =>
      databases.client('drizzled').transaction(async () => {
        await databases.get('drizzled').insert(prints).values({ book: 'Dune' })
        if (fails) throw new Error('no')
      })
    await expect(insert(true)).rejects.toThrow('no')
    await insert(false)
    expect(await databases.get('drizzled').select({ book: prints.book }).from(prints)).toEqual([{ book: 'Dune' }])
    for (const folder of [first, second]) rmSync(folder, { recursive: true })
  })
})
