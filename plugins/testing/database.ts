import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineErrors, isFrameworkError } from '../../kernel/index.ts'
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
  /** A database on the server, whose user may create others: `postgres://…` or `mysql://…`; or `'sqlite:'` for a file. Default `DATABASE_URL`, otherwise `'sqlite:'`. */
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

const servers = ['postgres', 'mysql'] as const

const options = option
  .shape({
    url: option.either(option.oneOf('sqlite:'), addressOption('postgres'), addressOption('mysql')),
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
 * runs of a day; on MySQL and SQLite a database and a file of its own, which are migrated each time.
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
  const url = own ?? (servers.some((kind) => isAddress(kind, environment)) ? environment! : 'sqlite:')
  const { url: made, drop } = await (url === 'sqlite:' ? sqliteFile(template) : onServerMade(url, template))
  return { url: made, drop, [Symbol.asyncDispose]: drop }
}

type Made = Pick<TestDatabase, 'url' | 'drop'>

/** Fills a database, and removes it again if that fails. */
async function migrated(made: Made, template: DatabaseTemplate | undefined): Promise<Made> {
  try {
    await template?.migrate(made.url)
    return made
  } catch (error) {
    await made.drop()
    throw error
  }
}

async function sqliteFile(template: DatabaseTemplate | undefined) {
  const folder = await mkdtemp(join(tmpdir(), testDatabaseFolder))
  const drop = () => rm(folder, { recursive: true, force: true })
  return migrated({ url: `sqlite:${join(folder, 'test.sqlite')}`, drop }, template)
}

/** A database, and the time of its server in seconds. */
type Row = { readonly name: string; readonly now: number | string }
type Query = (text: string, values?: unknown[]) => Promise<{ rows: Row[] }>

const remedies: { readonly [code: string]: readonly [why: string, remedy: string] } = {
  '42501': ['its user may not create databases', 'Give it the right: alter role … createdb'],
  ER_DBACCESS_DENIED_ERROR: ['its user may not create databases', 'Give it the right: grant all on *.* to …'],
  ECONNREFUSED: ['nothing listens there', 'Start the server, or correct url (DATABASE_URL)'],
}

async function connectTo(url: string): Promise<{ query: Query; end(): Promise<void> }> {
  if (isAddress('mysql', url)) {
    const mysql = await peer('mysql2', () => import('mysql2/promise'), 'testDatabase (MySQL)')
    const connection = await mysql.createConnection({ uri: url, connectTimeout: 5_000 })
    connection.on('error', () => {})
    const query: Query = async (text, values) => ({ rows: (await connection.query(text, values))[0] as never })
    return { query, end: () => connection.end() }
  }
  const { default: pg } = await peer('pg', () => import('pg'), 'testDatabase (Postgres)')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // Its next query reports the loss of the connection.
  client.on('error', () => {})
  await client.connect()
  return { query: (text, values) => client.query(text, values), end: () => client.end() }
}

/** Does work with a connection to the server. */
async function onServer<Result>(url: string, work: (query: Query) => Promise<Result>): Promise<Result> {
  const failed = (cause: Error & { code?: string }) => {
    const [why, remedy] = remedies[cause.code ?? ''] ?? [cause.message, 'Correct url (DATABASE_URL)']
    throw Object.assign(TestDatabaseError(shownAddress(url), why, remedy), { cause })
  }
  const { query, end } = await connectTo(url).catch((error) => {
    if (isFrameworkError(error)) throw error
    return failed(error)
  })
  try {
    return await work((text, values) => query(text, values).catch(failed))
  } finally {
    await end()
  }
}

/** The time is in the name: tests that were killed leave databases, and the server does not say how old they are. */
const newName = ([row]: readonly Row[], end = randomBytes(8).toString('hex')) => `framework_test_${row!.now}_${end}`
const isOld = ({ name, now }: Row) => Number(/^framework_test_(\d+)_/.exec(name)?.[1]) < Number(now) - 86_400
const all = {
  mysql: 'select schema_name as name, unix_timestamp() as now from information_schema.schemata',
  postgres: 'select datname as name, extract(epoch from now())::bigint as now from pg_database',
}
const dropped = (name: string, how = ' with (force)') => `drop database if exists ${name}${how}`
const at = (url: string, name: string) => Object.assign(new URL(url), { pathname: name }).href

/** A database of a server: a copy of the template, and in MySQL, which has no copies, one that is migrated each time. */
async function onServerMade(url: string, template: DatabaseTemplate | undefined) {
  const isMysql = isAddress('mysql', url)
  const name = await onServer(url, async (query) => {
    const { rows } = await query(isMysql ? all.mysql : all.postgres)
    // Another process may remove it as well, or still use it.
    for (const { name } of rows.filter(isOld)) await query(dropped(name, '')).catch(() => {})
    const source = template === undefined || isMysql ? '' : ` template ${await templateOf(url, template, query)}`
    const name = newName(rows)
    await query(`create database ${name}${source}`)
    return name
  })
  const drop = () => onServer(url, async (query) => void (await query(dropped(name, isMysql ? '' : undefined))))
  return migrated({ url: at(url, name), drop }, isMysql ? template : undefined)
}

/** The migrated database that others are copied from, which the first process makes. */
async function templateOf(url: string, { key, migrate }: DatabaseTemplate, query: Query): Promise<string> {
  const text = JSON.stringify(key, (_name, value) => (typeof value === 'function' ? String(value) : value))
  const hash = createHash('sha256').update(`${text} ${migrate}`).digest('hex').slice(0, 16)
  // Until this connection ends.
  await query('select pg_advisory_lock(hashtextextended($1, 0))', [hash])
  const { rows } = await query(all.postgres)
  const made = rows.find(({ name }) => /^framework_test_\d+_t/.test(name) && name.endsWith(hash))
  if (made !== undefined) return made.name
  const making = newName(rows)
  await query(`create database ${making}`)
  try {
    await migrate(at(url, making))
    // A database with connections can be neither renamed nor copied.
    await query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [making])
    const name = newName(rows, `t${hash}`)
    await query(`alter database ${making} rename to ${name}`)
    return name
  } catch (error) {
    await query(dropped(making)).catch(() => {})
    throw error
  }
}
