import { kyselyDialect, kyselyMigrations, type NamedDatabaseOptions } from 'framework'
import { type Generated, Kysely, type MigrationProvider, Migrator, PostgresDialect } from 'kysely'

export interface Tables {
  books: { id: Generated<string>; title: string; copies: number }
}

declare module 'framework' {
  interface DatabaseLayers {
    shop: Kysely<Tables>
  }
}

/** In an application, the `FileMigrationProvider` of Kysely reads a folder. */
const provider: MigrationProvider = {
  getMigrations: async () => ({
    '001_books': {
      async up(db) {
        const books = db.schema.createTable('books').addColumn('title', 'text', (title) => title.notNull())
        await books
          .addColumn('id', 'bigint', (id) => id.primaryKey().generatedAlwaysAsIdentity())
          .addColumn('copies', 'integer', (copies) => copies.notNull())
          .execute()
      },
    },
  }),
}

export const shop = (url: string): NamedDatabaseOptions<Kysely<Tables>> => ({
  url,
  migrations: kyselyMigrations((db) => new Migrator({ db, provider })),
  layer: ({ database }) => new Kysely<Tables>({ dialect: kyselyDialect(PostgresDialect, database) }),
})
