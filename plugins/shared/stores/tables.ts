import { defineErrors, systemClock } from '../../../kernel/index.ts'

const { DatabaseTableError } = defineErrors({
  DatabaseTableError: (what: string, table: string, why: string, statement: string) =>
    `${what} needs the table ${table}, and this user cannot make it: ${why}. Let its owner run: ${statement}`,
})

/** What runs statements. */
interface TableClient {
  query(text: string): Promise<unknown>
}

/** The time of a database in milliseconds: those of processes on several machines differ. */
export const nowOf = ({ system }: { readonly system: 'postgresql' | 'sqlite' }) =>
  system === 'sqlite' ? `((julianday('now') - 2440587.5) * 86400000)` : '(extract(epoch from clock_timestamp()) * 1000)'

/** Milliseconds between two removals of old rows by a process. */
const sweepEvery = 600_000

/** Makes the function that removes old rows from time to time; what fails is left to the next time. */
export function sweeping(remove: () => Promise<unknown>): () => void {
  let swept = Number.NEGATIVE_INFINITY
  return () => {
    const now = systemClock.monotonic()
    if (now - swept < sweepEvery) return
    swept = now
    void remove().catch(() => {})
  }
}

/** Makes a table unless it exists. Looks first, because a user without the right to make it may use the one of its owner. */
export async function ensureTable(client: TableClient, what: string, table: string, columns: string): Promise<void> {
  const statement = `create table if not exists ${table} (${columns})`
  const look = () => client.query(`select 1 from ${table} limit 1`)
  await look().catch(() =>
    client.query(statement).catch((error: Error) =>
      // Another process may have made it at the same moment, which fails in Postgres.
      look().catch(() => {
        throw Object.assign(DatabaseTableError(what, table, error.message, statement), { cause: error })
      }),
    ),
  )
}
