import { option } from '../shared/options/index.ts'
import type { DatabaseClient } from './database.ts'
import { isConflict, MigrationError, MigrationReferencesError } from './errors.ts'
import type { DatabaseMigrations, MigrationParts } from './options.ts'

/** Does work in a transaction that no other process migrates in: the database releases the lock when the process dies. MySQL has no transaction for it. */
export function exclusively<Result>(
  database: DatabaseClient,
  work: () => Promise<Result>,
  migrates = false,
): Promise<Result> {
  const locked = async () => {
    if (database.system === 'postgresql') {
      await database.query('set local statement_timeout = 0')
      await database.query('set local idle_in_transaction_session_timeout = 0')
      await database.query("select pg_advisory_xact_lock(hashtextextended('framework migrate', 0))")
      // With a table, the connection also learns what was created while it waited: to_regclass would still miss it.
      await database.query('select from pg_class limit 0')
      // A migration that waits for a table blocks every request that comes after it.
      await database.query("set local lock_timeout = '10s'")
    }
    return work()
  }
  // SQLite has one writer, and the others are refused after a second. What MySQL has done in part must not be repeated.
  const isAlone = database.system === 'mysql'
  return database.begin(locked, { isolation: undefined, retry: isAlone ? 0 : 20, readOnly: false }, undefined, '', {
    isAlone,
    migrates,
  })
}

/** Refuses what a migration of SQLite has broken, which runs without foreign keys. */
export async function checkReferences(database: DatabaseClient): Promise<void> {
  if (database.system !== 'sqlite') return
  const { rows } = await database.query<{ table: string; rowid: number; parent: string }>('pragma foreign_key_check')
  const shown = rows.slice(0, 10).map(({ table, rowid, parent }) => `row ${rowid} of ${table} to ${parent}`)
  if (rows.length > shown.length) shown.push(`and ${rows.length - shown.length} more`)
  if (rows.length > 0) throw MigrationReferencesError(database.name, shown.join(', '))
}

const table = 'framework_migrations'

const finds = {
  sqlite: `select 1 from sqlite_master where name = '${table}'`,
  postgresql: `select 1 where to_regclass('${table}') is not null`,
  mysql: `select 1 from information_schema.tables where table_schema = database() and table_name = '${table}'`,
}

const isStep = (given: unknown) => [given].flat().every((one) => typeof one === 'string')
const sqlSteps = option
  .record(option.value<string | readonly string[]>('a statement or a list of them', isStep))
  .required()
  .into((steps, place) => {
    const number = Object.keys(steps).find((name) => /^(0|[1-9]\d*)$/.test(name))
    if (number !== undefined)
      place.problem(
        `"${place.path}.${number}": JavaScript moves a number to the front. Name it "001-books", for example`,
      )
    return steps
  })

/**
 * Makes migrations of plain SQL, by name, in the order in which they run. Each is one statement, or a list of them. Never change one that has run
 * anywhere: add another one. The table `framework_migrations` has the names of those that have run.
 *
 * @example
 * const migrations = sqlMigrations({ '001-books': 'create table books (title text not null)' })
 * const server = new Server({ plugins: { database: { url: 'sqlite::memory:', migrations } } })
 */
export function sqlMigrations(given: {
  readonly [name: string]: string | readonly string[]
}): Pick<DatabaseMigrations, 'pending' | 'run'> {
  const steps = sqlSteps.parse(given, 'sqlMigrations')
  const pending = async ({ database }: Pick<MigrationParts, 'database'>) => {
    const exists = (await database.query(finds[database.system])).count > 0
    const { rows } = exists ? await database.query<{ name: string }>(`select name from ${table}`) : { rows: [] }
    return Object.keys(steps).filter((name) => !rows.some((row) => row.name === name))
  }
  return {
    pending,
    async run({ database }) {
      await database.query(`create table if not exists ${table} (name varchar(255) primary key)`)
      const staysInPart = database.system === 'mysql'
      const run = async (name: string) => {
        for (const statement of [steps[name]!].flat())
          await database.query(statement).catch((error: Error) => {
            // One that another process hinders is run again.
            if (isConflict(error) && !staysInPart) throw error
            const told = MigrationError(name, statement.trim().slice(0, 100), error.message, staysInPart)
            throw Object.assign(told, { cause: error })
          })
        await database.query(`insert into ${table} values ($1)`, [name])
      }
      for (const name of await pending({ database })) await database.transaction(() => run(name))
    },
  }
}

/** The part of the `Migrator` of Kysely that is used here. */
interface KyselyMigrator {
  getMigrations(): Promise<readonly { readonly name: string; readonly executedAt?: Date | undefined }[]>
  migrateToLatest(): Promise<{ readonly error?: unknown }>
}

/**
 * Makes migrations from the `Migrator` of Kysely.
 *
 * @example
 * import { kyselyMigrations } from 'framework'
 * import { type Kysely, type MigrationProvider, Migrator } from 'kysely'
 * const provider: MigrationProvider = { getMigrations: async () => ({}) }
 * const migrations = kyselyMigrations((db: Kysely<object>) => new Migrator({ db, provider }))
 */
export const kyselyMigrations = <Layer>(
  migratorOf: (layer: Layer) => KyselyMigrator,
): Pick<DatabaseMigrations<Layer>, 'pending' | 'run'> => ({
  async pending({ layer }) {
    const all = await migratorOf(layer).getMigrations()
    return all.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name)
  },
  async run({ layer }) {
    const { error } = await migratorOf(layer).migrateToLatest()
    if (error !== undefined) throw error
  },
})
