import { defineErrors, systemClock } from '../../../kernel/index.ts'

const { DatabaseTableError } = defineErrors({
  DatabaseTableError: (what: string, table: string, why: string, statement: string) =>
    `${what} needs the table ${table}, and this user cannot make it: ${why}. Let its owner run: ${statement}`,
})

/** What runs statements. */
interface TableClient {
  readonly system?: keyof typeof dialects
  query(text: string): Promise<unknown>
}

const plain = {
  ...{ key: 'key', name: 'text', bytes: 'text', text: 'text' },
  ...{ insertNew: 'insert', unlessThere: 'on conflict do nothing', newest: '' },
}

/**
 * What differs between databases: the time in milliseconds, as those of processes on several machines differ, the name of a column, types, and the
 * words of an insert that leaves an existing row. `newest`: the words of a select that reads what has been committed since its transaction began.
 */
export const dialects = {
  sqlite: { now: `((julianday('now') - 2440587.5) * 86400000)`, id: 'integer primary key autoincrement', ...plain },
  postgresql: {
    now: '(extract(epoch from clock_timestamp()) * 1000)',
    ...{ id: 'bigint generated always as identity primary key', ...plain },
  },
  mysql: {
    now: `(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) / 1000)`,
    // To its collations, names are equal that differ by a space at the end; bytes are not.
    ...{ id: 'bigint auto_increment primary key', key: '`key`', name: 'varchar(255)', bytes: 'varbinary(1000)' },
    ...{ text: 'longtext', insertNew: 'insert ignore', unlessThere: '', newest: ' for update' },
  },
}

/** Makes the function that removes what is old from time to time, `every` so many milliseconds at most; what fails is left to the next time. */
export function sweeping(remove: () => Promise<unknown>, every = 600_000): () => void {
  let swept = Number.NEGATIVE_INFINITY
  return () => {
    const now = systemClock.monotonic()
    if (now - swept < every) return
    swept = now
    void remove().catch(() => {})
  }
}

/** Makes a table unless it exists. Looks first, because a user without the right to make it may use the one of its owner. */
export async function ensureTable(client: TableClient, what: string, table: string, columns: string): Promise<void> {
  // Others are equal in upper and lower case, or cannot have each character.
  const collation = client.system === 'mysql' ? ' engine = innodb character set utf8mb4 collate utf8mb4_bin' : ''
  const statement = `create table if not exists ${table} (${columns})${collation}`
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
