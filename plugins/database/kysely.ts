import type { DatabaseClient } from './database.ts'
import type { Connection } from './drivers/contract.ts'

/** The parts of a dialect of Kysely. */
interface Dialect {
  /** Returns what runs the queries. */
  createDriver(): unknown
}

interface Compiled {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A connection of a driver of Kysely. */
const connectionOf = (connection: Connection) => ({
  connection,
  async executeQuery({ sql, parameters }: Compiled) {
    const { rows, count, insertId } = await connection.query(sql, parameters)
    const changed = rows.length > 0 ? {} : { numAffectedRows: BigInt(count) }
    return { rows, ...changed, ...(insertId !== undefined && { insertId: BigInt(insertId) }) }
  },
  // biome-ignore lint/correctness/useYield: a driver of Kysely has this method
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error(
      'this dialect does not stream; with the driver pg, give the pool to new PostgresDialect({ pool, cursor })',
    )
  },
})

type KyselyConnection = ReturnType<typeof connectionOf>

interface KyselyTransactionSettings {
  readonly isolationLevel?: string
  readonly accessMode?: string
}

/**
 * Makes a dialect of Kysely whose queries run in the database of the plugin, in the running transaction if there is one. `Dialect` is the class for
 * the kind of the database: `PostgresDialect`, `MysqlDialect` or `SqliteDialect`.
 *
 * @example
 * import { kyselyDialect, type NamedDatabaseOptions } from 'framework'
 * import { Kysely, PostgresDialect } from 'kysely'
 * const reports: NamedDatabaseOptions = {
 *   url: 'postgres://db.internal/reports',
 *   layer: ({ database }) => new Kysely<object>({ dialect: kyselyDialect(PostgresDialect, database) }),
 * }
 */
export function kyselyDialect<Kind extends Dialect>(
  Dialect: new (config: never) => Kind,
  database: DatabaseClient,
): Kind {
  const run = (text: string) => (one: KyselyConnection) => one.connection.query(text, [])
  const driver = {
    init: async () => {},
    acquireConnection: async () => connectionOf(await database.connect()),
    // In a running transaction, this becomes a savepoint.
    async beginTransaction(
      one: KyselyConnection,
      { isolationLevel, accessMode = 'read write' }: KyselyTransactionSettings,
    ) {
      for (const text of database.beginning(isolationLevel, accessMode)) await run(text)(one)
    },
    commitTransaction: run('commit'),
    rollbackTransaction: run('rollback'),
    releaseConnection: async ({ connection }: KyselyConnection) => connection.release(),
    destroy: async () => {},
  }
  // The other parts of a dialect do not read its configuration.
  return Object.assign(new Dialect({} as never), { createDriver: () => driver })
}
