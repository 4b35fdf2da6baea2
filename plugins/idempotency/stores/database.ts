import type { DatabaseClient } from '../../database/index.ts'
import { ensureTable, nowOf, sweeping } from '../../shared/stores/tables.ts'
import type { IdempotencyStore } from './contract.ts'

const table = 'framework_idempotency'

/** Keeps values in a table of the server's own database, so that a response can be written in the transaction of its handler. */
export async function openDatabaseStore(database: DatabaseClient): Promise<IdempotencyStore> {
  const now = nowOf(database)
  const end = `${now} + cast($3 as double precision)`
  const query = async (text: string, ...values: readonly unknown[]) => {
    const { rows } = await database.query<{ readonly value: string }>(text, values)
    return rows
  }
  const columns = 'key text primary key, value text not null, until double precision not null'
  await ensureTable(database, 'idempotency (store database)', table, columns)
  const sweep = sweeping(() => query(`delete from ${table} where until <= ${now}`))
  const change = async (key: string, expected: string | undefined, value: string | undefined, ms: number) => {
    const mine = 'where key = $1 and value = $2'
    if (expected === undefined) {
      // Only here: a response may be written in the transaction of its handler.
      sweep()
      return query(
        `insert into ${table} (key, value, until) values ($1, $2, ${end}) on conflict (key)
        do update set value = excluded.value, until = excluded.until where ${table}.until <= ${now} returning value`,
        ...[key, value, ms],
      )
    }
    if (value === undefined) return query(`delete from ${table} ${mine} returning value`, key, expected)
    return query(`update ${table} set value = $4, until = ${end} ${mine} returning value`, key, expected, ms, value)
  }
  const swap: IdempotencyStore['swap'] = async (key, expected, value, ms) => {
    const isLookup = expected === undefined && value === undefined
    const changed = isLookup ? [] : await change(key, expected, value, Math.ceil(ms))
    if (changed.length > 0) return expected
    const [found] = await query(`select value from ${table} where key = $1 and until > ${now}`, key)
    // It has ended between the two statements.
    return found === undefined && expected === undefined && !isLookup ? swap(key, expected, value, ms) : found?.value
  }
  return { swap }
}
