import { kyselyDialect, type NamedDatabaseOptions } from 'framework'
import { type Generated, Kysely, PostgresDialect } from 'kysely'

export interface Tables {
  books: { id: Generated<string>; title: string; copies: number }
}

declare module 'framework' {
  interface DatabaseLayers {
    shop: Kysely<Tables>
  }
}

export const shop = (url: string): NamedDatabaseOptions<Kysely<Tables>> => ({
  url,
  layer: ({ database }) => new Kysely<Tables>({ dialect: kyselyDialect(PostgresDialect, database) }),
})
