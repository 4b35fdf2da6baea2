import type { DatabaseRow, DatabaseSystem, QueryResult } from './drivers/contract.ts'
import { DatabaseTableError } from './errors.ts'

/** A database that has tables of the framework. */
export interface TableHost {
  readonly name: string
  readonly system: DatabaseSystem
  query<Row extends object = DatabaseRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
}

/** The time of the database in milliseconds: those of processes on several machines differ. */
export const nowOf = ({ system }: TableHost) =>
  system === 'sqlite' ? `((julianday('now') - 2440587.5) * 86400000)` : '(extract(epoch from clock_timestamp()) * 1000)'

/** Makes a table unless it exists. Looks first, because a user without the right to make it may use the one of its owner. */
export async function ensureTable(client: TableHost, table: string, columns: string): Promise<void> {
  const statement = `create table if not exists ${table} (${columns})`
  const look = () => client.query(`select 1 from ${table} limit 1`)
  await look().catch(() =>
    client.query(statement).catch((error: Error) =>
      // Another process may have made it at the same moment, which fails in Postgres.
      look().catch(() => {
        throw Object.assign(DatabaseTableError(client.name, table, error.message, statement), { cause: error })
      }),
    ),
  )
}
