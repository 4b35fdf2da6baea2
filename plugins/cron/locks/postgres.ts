import { readFileSync } from 'node:fs'
import { peer } from '../../shared/environment/optional-package.ts'
import { variable } from '../../shared/environment/process.ts'
import type { CronPostgresSettings } from '../options.ts'
import { aheadMs, type CronClaim, type CronClaimed, type CronLock, type CronPostgresClient } from './contract.ts'

/**
 * Opens a lock in a table of Postgres. It uses a row rather than an advisory lock, which would belong to a session, while a pooler may
 * run each statement in a different session. Each method is one statement, and the time is taken from Postgres.
 */
export async function openPostgresLock(settings: CronPostgresSettings): Promise<CronLock> {
  const { url, client, table, ...options } = settings
  const own = client === undefined ? await connect(url, options) : undefined
  const pool = client ?? own!.client
  let made: Promise<void> | undefined
  const query = async (text: string, values: unknown[]) => {
    made ??= makeTable(pool, table).catch((error: unknown) => {
      made = undefined
      throw error
    })
    await made
    return (await pool.query(text, values)).rows
  }
  const sql = statementsFor(table)
  const claim = async (wish: CronClaim): Promise<CronClaimed> => {
    const { job, tick, owner, ttl, exclusive } = wish
    const rows = await query(sql.claim, [job, tick ?? null, owner, ttl, String(exclusive), aheadMs])
    // A row that this statement, or another one just before, has inserted is visible only to the next statement.
    return (rows[0]?.outcome as CronClaimed | undefined) ?? claim(wish)
  }
  return {
    claim,
    renew: async ({ job, owner, ttl }) => (await query(sql.renew, [job, owner, ttl])).length > 0,
    async release({ job, owner }) {
      await query(sql.release, [job, owner])
    },
    close: () => own?.close(),
  }
}

/**
 * Claims the job $1 for the tick $2, or for none; $3 owner, $4 milliseconds, $5 exclusive, $6 how far ahead a tick may be. `for update`
 * locks the row, so concurrent claims are decided after this one.
 */
const claimOfJob = readFileSync(new URL('./postgres/claim.sql', import.meta.url), 'utf8')

function statementsFor(table: string) {
  return {
    claim: claimOfJob.replaceAll('cron_table', () => table),
    renew: `
      update ${table} set owner = $2, until = now() + $3::bigint * interval '1 millisecond'
      where job = $1 and (owner is null or owner = $2 or until <= now()) returning job`,
    release: `update ${table} set owner = null where job = $1 and owner = $2`,
  }
}

async function makeTable(pool: CronPostgresClient, table: string): Promise<void> {
  const columns = 'job text primary key, tick bigint, tick_owner text, owner text, until timestamptz'
  try {
    await pool.query(`create table if not exists ${table} (${columns})`)
  } catch (error) {
    // Instances that start simultaneously conflict in the Postgres catalogue; others may not create a table, even if it already exists.
    const { rows } = await pool.query('select to_regclass($1) is not null as there', [table])
    if (rows[0]?.there !== true) throw error
  }
}

async function connect(url: string | undefined, given: { readonly [option: string]: unknown }) {
  const loaded = await peer('pg', () => import('pg'), 'the cron plugin (lock postgres)')
  const address = given.host === undefined ? { connectionString: url ?? variable('DATABASE_URL') } : {}
  const pool = new loaded.default.Pool({
    max: 2,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
    // An idle instance releases its connection and does not keep the process alive.
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    ...address,
    ...given,
  })
  // Without a listener, the loss of an idle connection would end the process; the next query reports the loss.
  pool.on('error', () => {})
  return { client: pool as unknown as CronPostgresClient, close: () => pool.end() }
}
