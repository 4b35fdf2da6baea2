import { definePlugin } from 'framework'
import { CompiledQuery, type Generated, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool } from 'pg'

export interface Tables {
  books: { id: Generated<string>; title: string; copies: number }
}

declare module 'framework' {
  interface Services {
    kysely: Kysely<Tables>
  }
}

export const kysely = definePlugin({
  name: 'kysely',
  provide: ({ url }: { url: string }) => ({
    kysely: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, connectionTimeoutMillis: 5_000 }) }),
    }),
  }),
  health: { kysely: (services) => sql`select 1`.execute(services.get('kysely')) },
  close: ({ kysely }) => kysely.destroy(),
})

/** Returns what a queue's `publish` takes as `client`. */
export const clientOf = (transaction: Transaction<Tables>) => ({
  query: (text: string, values: unknown[] = []) => transaction.executeQuery(CompiledQuery.raw(text, values)),
})
