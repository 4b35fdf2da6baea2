import { readFile } from 'node:fs/promises'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { DatabaseMigrations, NamedDatabaseOptions } from 'framework'
import type { Pool } from 'pg'

export const prints = pgTable('prints', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  book: text().notNull(),
})

const open = (pool: Pool) => drizzle({ client: pool })
type Layer = ReturnType<typeof open>

declare module 'framework' {
  interface DatabaseLayers {
    drizzled: Layer
  }
}

/** The folder that `drizzle-kit generate` writes. */
const drizzleMigrations = (folder: string): DatabaseMigrations<Layer> => ({
  run: ({ layer }) => migrate(layer, { migrationsFolder: folder }),
  async pending({ layer }) {
    const journal = JSON.parse(await readFile(`${folder}/meta/_journal.json`, 'utf8'))
    const entries: { when: number; tag: string }[] = journal.entries
    const table = await layer.execute(sql`select 1 where to_regclass('drizzle.__drizzle_migrations') is not null`)
    if (table.rows.length === 0) return entries.map(({ tag }) => tag)
    const { rows } = await layer.execute(sql`select max(created_at) as last from drizzle.__drizzle_migrations`)
    return entries.filter(({ when }) => when > Number(rows[0]?.last)).map(({ tag }) => tag)
  },
})

export const drizzled = (url: string, folder: string): NamedDatabaseOptions<Layer> => ({
  url,
  migrations: drizzleMigrations(folder),
  layer: ({ pool }) => open(pool),
})
