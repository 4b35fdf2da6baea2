import type { DatabaseClient } from '../../database/index.ts'
import { dialects, ensureTable, sweeping } from '../../shared/stores/tables.ts'
import type { IdempotencyStore } from './contract.ts'

const table = 'framework_idempotency'

/** Keeps values in a table of the server's own database, so that a response can be written in the transaction of its handler. */
export async function openDatabaseStore(database: DatabaseClient): Promise<IdempotencyStore> {
  const { now, key: id, name, text } = dialects[database.system]
  const isMysql = database.system === 'mysql'
  const end = isMysql ? `${now} + $3` : `${now} + cast($3 as double precision)`
  const columns = `${id} ${name} primary key, value ${text} not null, until double precision not null`
  await ensureTable(database, 'idempotency (store database)', table, columns)
  const count = async (text: string, ...values: readonly unknown[]) => (await database.query(text, values)).count
  const remove = () => count(`delete from ${table} where until <= ${now}`)
  // Otherwise MySQL locks each row that it has read, while it waits for the one of a handler in a transaction.
  const sweep = sweeping(() => database.transaction(remove, { isolation: 'read committed' }))
  const unlessKept = `on conflict (key)
    do update set value = excluded.value, until = excluded.until where ${table}.until <= ${now}`
  const mine = `where ${id} = $1 and value = $2`
  const change = async (key: string, expected: string | undefined, value: string | undefined, ms: number) => {
    if (expected === undefined) {
      // Only here: a response may be written in the transaction of its handler.
      sweep()
      if (isMysql) await count(`delete from ${table} where ${id} = $1 and until <= ${now}`, key)
      const insert = `${isMysql ? 'insert ignore' : 'insert'} into ${table} (${id}, value, until) values ($1, $2, ${end})`
      return count(isMysql ? insert : `${insert} ${unlessKept}`, key, value, ms)
    }
    if (value === undefined) return count(`delete from ${table} ${mine}`, key, expected)
    return count(`update ${table} set value = $4, until = ${end} ${mine}`, key, expected, ms, value)
  }
  const find = `select value from ${table} where ${id} = $1 and until > ${now}`
  const swap: IdempotencyStore['swap'] = async (key, expected, value, ms) => {
    const isLookup = expected === undefined && value === undefined
    if (!isLookup && (await change(key, expected, value, Math.ceil(ms))) > 0) return expected
    // A transaction of MySQL that does not lock the row reads the value that it had at its beginning, even `expected`.
    const text = isMysql && expected !== undefined ? `${find} for update` : find
    const [found] = (await database.query<{ readonly value: string }>(text, [key])).rows
    // It has ended between the two statements.
    return found === undefined && expected === undefined && !isLookup ? swap(key, expected, value, ms) : found?.value
  }
  return { swap }
}
