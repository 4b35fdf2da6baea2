import { readFileSync } from 'node:fs'
import { openPostgres, type PostgresStoreSettings } from '../stores/postgres.ts'
import { ensureTable, sweeping } from '../stores/tables.ts'
import { Memoized } from '../values/memoize.ts'
import { aheadMs, type LockStore, type TickClaim, type TickClaimed } from './contract.ts'

const columns = `
  job text primary key, tick bigint, tick_owner text, owner text, until timestamptz,
  next_owner text, next_until timestamptz, fence bigserial`

/**
 * Opens locks in a table of Postgres. It uses rows rather than advisory locks, which belong to a session, while a pooler may run each
 * statement in a different session. Each method is one statement, and the time is taken from Postgres.
 */
export async function openPostgresLocks(settings: PostgresStoreSettings, feature: string): Promise<LockStore> {
  const { client: pool, close } = await openPostgres(settings, feature)
  const { table } = settings
  const made = new Memoized(() => ensureTable(pool, feature, table, columns))
  const query = async (text: string, values: unknown[]) => {
    await made.get()
    return (await pool.query(text, values)).rows
  }
  const sql = statementsFor(table)
  const claim = async (wish: TickClaim): Promise<TickClaimed> => {
    const { key, tick, owner, ttl, exclusive } = wish
    const rows = await query(sql.claim, [key, tick ?? null, owner, ttl, String(exclusive), aheadMs])
    // A row that this statement, or another one just before, has inserted is visible only to the next statement.
    return (rows[0]?.outcome as TickClaimed | undefined) ?? claim(wish)
  }
  const sweep = sweeping(() => query(sql.sweep, []))
  return {
    async acquire({ key, owner, ttl }, reserve) {
      const [row] = await query(sql.acquire, [key, owner, ttl, reserve])
      sweep()
      return row?.fence == null ? undefined : Number(row.fence)
    },
    claim,
    renew: async ({ key, owner, ttl }) => (await query(sql.renew, [key, owner, ttl])).length > 0,
    async release({ key, owner }) {
      await query(sql.release, [key, owner])
    },
    async leave({ key, owner }) {
      await query(sql.leave, [key, owner])
    },
    close,
  }
}

/**
 * Claims the job $1 for the tick $2, or for none; $3 owner, $4 milliseconds, $5 exclusive, $6 how far ahead a tick may be. `for update`
 * locks the row, so concurrent claims are decided after this one.
 */
const claimOfTick = readFileSync(new URL('./postgres/claim.sql', import.meta.url), 'utf8')

/** Acquires the lock $1 for the owner $2 for $3 milliseconds; one that waits is next in line for $4 milliseconds. */
const acquisition = readFileSync(new URL('./postgres/acquire.sql', import.meta.url), 'utf8')

function statementsFor(table: string) {
  const forTable = (text: string) => text.replaceAll('lock_table', () => table)
  return {
    claim: forTable(claimOfTick),
    acquire: forTable(acquisition),
    renew: `
      update ${table} set until = now() + $3::bigint * interval '1 millisecond'
      where job = $1 and owner = $2 returning job`,
    release: `update ${table} set owner = null, until = now() where job = $1 and owner = $2`,
    leave: `update ${table} set next_owner = null where job = $1 and next_owner = $2`,
    // Not as soon as a lock is released: a statement that has drawn its fence and inserts only now would have a lower one than the last holder.
    sweep: `delete from ${table} where tick is null and until < now() - interval '1 hour'`,
  }
}
