import { definePlugin } from 'framework'
import { Pool, type PoolClient } from 'pg'
import { migrateCommand } from './migrations.ts'

export interface DatabaseOptions {
  readonly url: string
  /** The maximum number of connections of this process. */
  readonly max?: number
}

export class Database {
  readonly pool: Pool

  constructor({ url, max = 10 }: DatabaseOptions) {
    this.pool = new Pool({
      connectionString: url,
      max,
      // Without these, a request could wait for ever: for a connection, a query, or a lock that a hanging transaction holds.
      connectionTimeoutMillis: 5_000,
      statement_timeout: 10_000,
      idle_in_transaction_session_timeout: 10_000,
    })
  }

  async transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((reason: Error) => {
        broken = reason
      })
      throw error
    } finally {
      // A connection that could not roll back is thrown away: the next request must not find itself in this transaction.
      client.release(broken)
    }
  }
}

declare module 'framework' {
  interface Services {
    database: Database
  }
}

export const database = definePlugin({
  name: 'database',
  provide: (options: DatabaseOptions) => ({ database: new Database(options) }),
  health: { database: (services) => services.get('database').pool.query('select 1') },
  commands: async () => [migrateCommand],
  setup(ctx, _options, { database }) {
    // Emitted when an idle connection breaks. Without a listener, the process ends.
    database.pool.on('error', (err) => ctx.log.warn({ err }, 'a connection to the database broke'))
  },
  close: ({ database }) => database.pool.end(),
})
