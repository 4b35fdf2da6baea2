import { peer } from '../environment/optional-package.ts'
import { variable } from '../environment/process.ts'
import { foreignOption } from '../options/foreign-options.ts'
import { option, type SettingsOf } from '../options/index.ts'
import { addressOption } from './address.ts'

/** An address, or the other options of `new Pool()` of `pg`: `host`, `password`, `ssl` … */
export interface PostgresStoreOptions {
  /** The address: `postgres://user:password@host/database`. Default `DATABASE_URL`; ignored when `host` is given. */
  readonly url?: string
  /** A `pg` pool to use instead; it is not closed. */
  readonly client?: PostgresStoreClient
  /** The table, created if it is missing. Default `framework_cron` or `framework_locks`, by the plugin. */
  readonly table?: string
  readonly [option: string]: unknown
}

/** The part of a `pg` pool that is used here. */
export interface PostgresStoreClient {
  /** Runs a statement with the values of `$1` and so on, and resolves with its `rows`. */
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

const tableTakes = 'a name of lower-case letters, digits and _'
/** Options of a pool of `pg` that are often misspelt. */
const ofPool = ['host', 'port', 'user', 'password', 'database', 'connectionString', 'ssl', 'max', 'min', 'Client']

/** An option for the name of a table. */
export const tableOption = (name: string) =>
  option.name(/^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/, tableTakes).default(name)

/** Makes an option for a table in Postgres: an address, or options. */
export function postgresStore(table: string) {
  const members = {
    url: addressOption('postgres'),
    client: option.having<PostgresStoreClient>(['query'], 'a pool of pg'),
    table: tableOption(table),
  }
  const options = option
    .shape(members, foreignOption([...Object.keys(members), ...ofPool]))
    .says('options of a pool of pg')
    .typed<PostgresStoreOptions>()
  return option.either(
    addressOption('postgres').into((url, place) => options.read({ url }, place)),
    options,
  )
}

export type PostgresStoreSettings = SettingsOf<ReturnType<typeof postgresStore>>

/** Opens the pool of a store; `feature` is for the error about the missing package. It is closed only if it was opened here. */
export async function openPostgres(
  { client, table: _table, url, ...given }: PostgresStoreSettings,
  feature: string,
): Promise<{ readonly client: PostgresStoreClient; close(): void | Promise<void> }> {
  if (client !== undefined) return { client, close: () => {} }
  const loaded = await peer('pg', () => import('pg'), feature)
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
  return { client: pool as unknown as PostgresStoreClient, close: () => pool.end() }
}
