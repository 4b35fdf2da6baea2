import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineErrors } from '../../kernel/index.ts'
import { peer } from '../shared/environment/optional-package.ts'
import { variable } from '../shared/environment/process.ts'
import { option } from '../shared/options/index.ts'
import { addressOption, isAddress, shownAddress, testDatabaseFolder } from '../shared/stores/address.ts'

/** What the databases of tests begin with. */
export interface DatabaseTemplate {
  /** What `migrate` makes, such as the list of migrations: when its JSON or the source of its functions changes, the template is made again. */
  readonly key: unknown
  /** Fills the empty database at this address, and closes its connections. */
  migrate(url: string): unknown
}

/** Options of `testDatabase`. */
export interface TestDatabaseOptions {
  /** A database on the server, whose user may create others: `postgres://…`; or `'sqlite:'` for a file. Default `DATABASE_URL`, otherwise `'sqlite:'`. */
  readonly url?: string
  /** What the database begins with. Default: it is empty. */
  readonly template?: DatabaseTemplate
}

/** A database of one test file. */
export interface TestDatabase extends AsyncDisposable {
  /** Its address, for the option `url` of the plugin `database`. */
  readonly url: string
  /** Removes it, with the connections that are still open; the same as the end of `await using`. */
  drop(): Promise<void>
}

const { TestDatabaseError } = defineErrors({
  TestDatabaseError: (where: string, why: string, remedy: string) =>
    `there is no database for tests at ${where}: ${why}. ${remedy}`,
})

const options = option
  .shape({
    url: option.either(option.oneOf('sqlite:'), addressOption('postgres')),
    template: option
      .shape({
        key: option.value<unknown>('what migrate makes').required(),
        migrate: option.fn<DatabaseTemplate['migrate']>().required(),
      })
      .optional(),
  })
  .typed<TestDatabaseOptions>()

/**
 * Makes a database for one test file, so that files run side by side. On Postgres it is a copy of a template, which is migrated once for all files and
 * runs of a day; on SQLite a file of its own, which is migrated each time.
 *
 * @throws (as a rejection) TestDatabaseError if the server is away or its user may not create databases; the error of `migrate`.
 * @example
 * const sql = 'create table books (title text not null)'
 * async function migrate(url: string) {
 *   await using migrating = new Server({ plugins: { database: { url } } })
 *   await migrating.ready()
 *   await migrating.services.get('database').query(sql)
 * }
 * await using made = await testDatabase({ url: 'sqlite:', template: { key: sql, migrate } })
 * const tested = new Server({ plugins: { database: { url: made.url } } })
 */
export async function testDatabase(given: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { url: own, template } = options.parse(given, 'testDatabase')
  const environment = variable('DATABASE_URL')
  const url = own ?? (isAddress('postgres', environment) ? environment : 'sqlite:')
  const { url: made, drop } = url === 'sqlite:' ? await sqliteFile(template) : await postgresCopy(url, template)
  return { url: made, drop, [Symbol.asyncDispose]: drop }
}

async function sqliteFile(template: DatabaseTemplate | undefined) {
  const folder = await mkdtemp(join(tmpdir(), testDatabaseFolder))
  const drop = () => rm(folder, { recursive: true, force: true })
  const url = `sqlite:${join(folder, 'test.sqlite')}`
  try {
    await template?.migrate(url)
    return { url, drop }
  } catch (error) {
    await drop()
    throw error
  }
}

type Query = (text: string, values?: unknown[]) => Promise<{ rows: { datname: string }[] }>

const remedies: { readonly [code: string]: readonly [why: string, remedy: string] } = {
  '42501': ['its user may not create databases', 'Give it the right: alter role … createdb'],
  ECONNREFUSED: ['nothing listens there', 'Start the server, or correct url (DATABASE_URL)'],
}

/** Does work with a connection to the server. */
async function onServer<Result>(url: string, work: (query: Query) => Promise<Result>): Promise<Result> {
  const { default: pg } = await peer('pg', () => import('pg'), 'testDatabase (Postgres)')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // Its next query reports the loss of the connection.
  client.on('error', () => {})
  const failed = (cause: Error & { code?: string }) => {
    const [why, remedy] = remedies[cause.code ?? ''] ?? [cause.message, 'Correct url (DATABASE_URL)']
    throw Object.assign(TestDatabaseError(shownAddress(url), why, remedy), { cause })
  }
  await client.connect().catch(failed)
  try {
    return await work((text, values) => client.query(text, values).catch(failed))
  } finally {
    await client.end()
  }
}

/** The time is in the name: tests that were killed leave databases, and the server does not say how old they are. */
const stamped = `select 'framework_test_' || extract(epoch from now())::bigint || '_' || $1::text as datname`
const old = `select datname from pg_database where datname ~ '^framework_test_[0-9]+_'
  and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - 86400`
const newName = async (query: Query, end: string) => (await query(stamped, [end])).rows[0]!.datname
const randomId = () => randomBytes(8).toString('hex')
const dropped = (name: string) => `drop database if exists ${name} with (force)`
const at = (url: string, name: string) => Object.assign(new URL(url), { pathname: name }).href

async function postgresCopy(url: string, template: DatabaseTemplate | undefined) {
  const name = await onServer(url, async (query) => {
    const { rows } = await query(old)
    // Another process may remove it as well, or still use it.
    for (const { datname } of rows) await query(`drop database if exists ${datname}`).catch(() => {})
    const source = template === undefined ? '' : ` template ${await templateOf(url, template, query)}`
    const name = await newName(query, randomId())
    await query(`create database ${name}${source}`)
    return name
  })
  return { url: at(url, name), drop: () => onServer(url, async (query) => void (await query(dropped(name)))) }
}

/** The migrated database that others are copied from, which the first process makes. */
async function templateOf(url: string, { key, migrate }: DatabaseTemplate, query: Query): Promise<string> {
  const text = JSON.stringify(key, (_name, value) => (typeof value === 'function' ? String(value) : value))
  const hash = createHash('sha256').update(`${text} ${migrate}`).digest('hex').slice(0, 16)
  // Until this connection ends.
  await query('select pg_advisory_lock(hashtextextended($1, 0))', [hash])
  const { rows } = await query('select datname from pg_database where datname ~ $1', [
    `^framework_test_[0-9]+_t${hash}$`,
  ])
  if (rows[0] !== undefined) return rows[0].datname
  const making = await newName(query, randomId())
  await query(`create database ${making}`)
  try {
    await migrate(at(url, making))
    // A database with connections can be neither renamed nor copied.
    await query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [making])
    const name = await newName(query, `t${hash}`)
    await query(`alter database ${making} rename to ${name}`)
    return name
  } catch (error) {
    await query(dropped(making)).catch(() => {})
    throw error
  }
}
