import { described, type OptionPlace, quoted } from '../../kernel/index.ts'
import { isProduction } from '../shared/environment/node-env.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { isAddress } from '../shared/stores/address.ts'
import { tableOption } from '../shared/stores/postgres.ts'
import type { DatabaseClient } from './database.ts'
import { type DatabaseDriver, type DatabaseSystem, drivers, sqliteOfRuntime } from './drivers/contract.ts'
import type { DatabaseLayers, MainDatabase } from './layers.ts'

/** The argument of `layer`. */
export interface LayerParts<Pool = never> {
  /** The database: runs statements, in the running transaction if there is one. For `kyselyDialect`, and for the proxy drivers of Drizzle. */
  readonly database: DatabaseClient
  /** The pool of the package, with the drivers `pg` and `mysql2` only. Its queries belong to the running transaction as well. */
  readonly pool: Pool
}

/** The arguments of migrations and seeds. */
export interface MigrationParts<Layer = unknown> {
  /** The database: runs statements. */
  readonly database: DatabaseClient
  /** What the option `layer` has returned, otherwise the database. */
  readonly layer: Layer
}

/** How the tables of a database are made: by the tool of its query builder, or by `sqlMigrations`. */
export interface DatabaseMigrations<Layer = unknown> {
  /** Returns the names of the migrations that have not run yet. It must not change anything. */
  pending(parts: MigrationParts<Layer>): Promise<readonly string[]>
  /** Runs these migrations. What it does with the database is one transaction (not in MySQL), which one process at a time has. */
  run(parts: MigrationParts<Layer>): unknown
  /** Fills the tables, for `framework migrate --seed`, in a transaction. It may run again. */
  seed?(parts: MigrationParts<Layer>): unknown
  /** Whether a server refuses to listen while migrations have not run, or only logs a warning. Default `'refuse'`. */
  readonly whenPending?: 'refuse' | 'warn'
}

/** The pool of one database. */
export interface DatabasePoolOptions {
  /** Maximum number of connections of this process. Default 10; SQLite has 1. */
  max?: number
  /** Milliseconds that a caller waits for a connection, a free or a new one, before it fails with 503. Default 5000. */
  acquireTimeout?: number
  /** Milliseconds after which an idle connection is closed. Default 30000. */
  idleTimeout?: number
}

/** The messages that wait for the commit as rows of the database. */
export interface OutboxOptions {
  /** The table, made at boot if it is missing. Default `framework_outbox`. */
  table?: string
  /** Milliseconds between two looks for messages of other processes, and for those to be tried again. Default 1000. */
  pollInterval?: number
  /** Whether processes notify each other of committed messages, by `LISTEN` and one more connection; Postgres only. Default `true`. */
  listen?: boolean
}

/** The ids that `once` remembers. */
export interface InboxOptions {
  /** The table, made at boot if it is missing. Default `framework_inbox`. */
  table?: string
  /** Milliseconds for which an id is remembered. Default 604800000, a week. */
  keep?: number
}

/** One database. */
export interface DatabaseConnectionOptions<Layer = unknown> {
  /**
   * The address: `postgres://user:password@host/database`, `mysql://…` (also MariaDB), `sqlite:data/app.sqlite` or `sqlite::memory:`. Default
   * `DATABASE_URL`, and outside of production `sqlite:database.sqlite`.
   */
  url?: string
  /** The package that connects. Default, by the address: `pg`, `mysql2`, or what the runtime has for SQLite, otherwise `node-sqlite3-wasm`. */
  driver?: DatabaseDriver
  /** The pool of connections. */
  pool?: DatabasePoolOptions
  /** Milliseconds after which the database ends a statement, and an idle transaction; `false`: never. Of MySQL, only a `select`. Not for SQLite. Default 10000. */
  statementTimeout?: number | false
  /** Milliseconds from which a statement counts as slow. Default 200. */
  slowQuery?: number
  /** Whether the log has a line for each statement, for slow ones or for none; without values. Default `'none'`. */
  log?: 'all' | 'slow' | 'none'
  /** Whether messages in a transaction are rows of it, which are delivered at least once after the commit. Default `false`. */
  outbox?: boolean | OutboxOptions
  /** Whether `once` can be used. Default `false`. */
  inbox?: boolean | InboxOptions
  /** Returns the service: the instance of a query builder. Default: the {@link DatabaseClient}. */
  layer?(parts: LayerParts): Layer
  /** How its tables are made: what `framework migrate` runs. */
  migrations?: DatabaseMigrations<Layer>
  /** Further options of the pool of the package, such as `ssl`. */
  options?: { readonly [name: string]: unknown }
}

/** Options of the plugin `database`: those of the main database, and the others by name. */
export interface DatabaseOptions extends DatabaseConnectionOptions<MainDatabase> {
  /** Further databases by name. */
  named?: { readonly [name: string]: NamedDatabaseOptions } & {
    readonly [Name in Exclude<keyof DatabaseLayers, 'main'>]?: NamedDatabaseOptions<DatabaseLayers[Name]>
  }
}

/** One of further databases; no variable has its address. */
export interface NamedDatabaseOptions<Layer = unknown> extends DatabaseConnectionOptions<Layer> {
  url: string
}

const pool = option.shape({
  max: option.int({ min: 1 }).default(10),
  acquireTimeout: option.ms({ min: 1 }).default(5_000),
  idleTimeout: option.ms().default(30_000),
})

const urlTakes = 'an address: postgres://…, mysql://…, sqlite:file or sqlite::memory:'
const servers = ['postgres', 'mysql'] as const
const url = option
  .value<string>(urlTakes, (given) => /^sqlite:./.test(String(given)) || servers.some((kind) => isAddress(kind, given)))
  .secret()

const outbox = option.shape({
  table: tableOption('framework_outbox'),
  pollInterval: option.ms({ min: 10 }).default(1_000),
  listen: option.flag(),
})
const inbox = option.shape({
  table: tableOption('framework_inbox'),
  keep: option.ms({ min: 1 }).default(604_800_000),
})
const migrations = option
  .shape({
    pending: option.fn<DatabaseMigrations['pending']>('a function (parts) => names').required(),
    run: option.fn<DatabaseMigrations['run']>().required(),
    seed: option.fn<DatabaseMigrations['seed'] & {}>(),
    whenPending: option.oneOf('refuse', 'warn'),
  })
  .optional()
  .typed<DatabaseMigrations<never>>()

const members = {
  driver: option.oneOf(...(Object.keys(drivers) as DatabaseDriver[])),
  pool,
  statementTimeout: option.either(option.ms({ min: 1 }), option.off()).default(10_000),
  slowQuery: option.ms().default(200),
  log: option.oneOf('all', 'slow', 'none').default('none'),
  outbox: option.feature(outbox).default(false),
  inbox: option.feature(inbox).default(false),
  layer: option.fn<(parts: LayerParts) => unknown>('a function ({ database, pool }) => service'),
  migrations,
  options: option
    .value<{ readonly [name: string]: unknown }>('an object', (given) => typeof given === 'object' && given !== null)
    .secret(),
}

const shape = option.shape(members)

/** The address, the driver and the kind of a database, from what is given. */
function addressed<Given extends SettingsOf<typeof shape> & { url?: string | undefined }>(
  given: Given,
  place: OptionPlace,
) {
  // A file on this machine instead of the real database would look like one without any data.
  if (given.url === undefined && isProduction())
    place.in('url').wrong(described('missing'), `${urlTakes}, or DATABASE_URL in the environment`)
  const address = given.url ?? 'sqlite:database.sqlite'
  const systems: Record<string, DatabaseSystem> = { s: 'sqlite', m: 'mysql', p: 'postgresql' }
  const system = systems[address[0]!]!
  if (system !== 'postgresql' && given.outbox && given.outbox.listen)
    place.in('outbox').in('listen').wrong(true, 'false: only Postgres has LISTEN')
  const own = { postgresql: 'pg', mysql: 'mysql2', sqlite: sqliteOfRuntime() } as const
  const driver: DatabaseDriver = given.driver ?? own[system]
  if (drivers[driver] !== system) place.in('driver').wrong(quoted(driver), `a package for ${system}`)
  const pool = { ...given.pool, max: system === 'sqlite' ? 1 : given.pool.max }
  return { ...given, url: address, system, driver, pool }
}

const named = option.record(
  option.shape({ ...members, url: url.required() }).into(addressed),
  'an object of databases by name',
)

export const databaseOptions = option
  .shape({ ...members, url: url.env('DATABASE_URL'), named: named.default({}) })
  .into(({ named, ...main }, place) => {
    if (Object.hasOwn(named, 'main'))
      place.in('named').in('main').wrong(described('the name of the main database'), 'another name')
    return { main: addressed(main, place), named }
  })
  .typed<DatabaseOptions>()

export type DatabasesSettings = SettingsOf<typeof databaseOptions>
export type DatabaseSettings = DatabasesSettings['main']
