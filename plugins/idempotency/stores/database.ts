import type { DatabaseClient } from '../../database/index.ts'
import { dialects, ensureTable, sweeping } from '../../shared/stores/tables.ts'
import type { IdempotencyStore } from './contract.ts'

const table = 'framework_idempotency'

/** Keeps values in a table of the server's own database, so that a response can be written in the transaction of its handler. */
export async function openDatabaseStore(database: DatabaseClient): Promise<IdempotencyStore> {
  const { now, key: id, name, text, insertNew, unlessThere, newest } = dialects[database.system]
  const columns = `${id} ${name} primary key, value ${text} not null, until double precision not null`
  await ensureTable(database, 'idempotency (store database)', table, columns)
  const count = async (text: string, ...values: readonly unknown[]) => (await database.query(text, values)).count
  const removeEnded = `delete from ${table} where until <= ${now}`
  // Otherwise MySQL locks each row that it has read, while it waits for the one of a handler in a transaction.
  const sweep = sweeping(() => database.transaction(() => count(removeEnded), { isolation: 'read committed' }))
  const mine = `where ${id} = $1 and value = $2`
  const end = `${now} + $3`
  const update = `update ${table} set value = $4, until = ${end} ${mine}`
  const insert = `${insertNew} into ${table} (${id}, value, until) values ($1, $2, ${end}) ${unlessThere}`
  const change = (key: string, expected: string | undefined, value: string | undefined, ms: number) => {
    if (value === undefined) return count(`delete from ${table} ${mine}`, key, expected)
    if (expected !== undefined) return count(update, key, expected, ms, value)
    // Only here: a response may be written in the transaction of its handler.
    sweep()
    return count(insert, key, value, ms)
  }
  const find = `select value from ${table} where ${id} = $1 and until > ${now}`
  const swap: IdempotencyStore['swap'] = async (key, expected, value, ms) => {
    const isLookup = expected === undefined && value === undefined
    if (!isLookup && (await change(key, expected, value, Math.ceil(ms))) > 0) return expected
    const text = expected === undefined ? find : `${find}${newest}`
    const [found] = (await database.query<{ readonly value: string }>(text, [key])).rows
    if (found !== undefined || expected !== undefined || isLookup) return found?.value
    // It has ended, perhaps long ago.
    await count(`${removeEnded} and ${id} = $1`, key)
    return swap(key, expected, value, ms)
  }
  return { swap }
}
