import { existsSync, realpathSync } from 'node:fs'
import { peer } from '../../shared/environment/optional-package.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import { safely } from '../../shared/values/safely.ts'
import { SeveralStatementsError } from '../errors.ts'
import { type DriverHost, numberedBy } from '../queries.ts'
import { builtin, type DatabaseRow, type DriverSettings, type OpenDriver, type QueryResult } from './contract.ts'

/** A database of one of the packages, which all work synchronously. */
interface Sqlite {
  all(text: string, values: readonly unknown[]): DatabaseRow[]
  close(): void
}

interface Statement {
  readonly reader?: boolean
  all(...values: readonly unknown[]): DatabaseRow[]
  run(...values: readonly unknown[]): unknown
}

interface Prepares {
  prepare(text: string): Statement
  close(): void
}

type Opens = new (file: string, options: object) => Prepares

const prepared = (database: Prepares): Sqlite => ({
  all(text, values) {
    const statement = database.prepare(text)
    if (statement.reader !== false) return statement.all(...values)
    statement.run(...values)
    return []
  },
  close: () => database.close(),
})

const feature = 'the plugin database (SQLite)'

async function open({ driver, options = {} }: DriverSettings, file: string): Promise<Sqlite> {
  if (driver === 'node-sqlite3-wasm') {
    const { default: wasm } = await peer(driver, () => import('node-sqlite3-wasm'), feature)
    return new wasm.Database(file, options) as unknown as Sqlite
  }
  if (driver === 'better-sqlite3') {
    const loaded: { default: Opens } = await peer(driver, () => import(driver as string), feature)
    return prepared(new loaded.default(file, options))
  }
  const { DatabaseSync, Database = DatabaseSync } = Object(builtin(driver)) as { [name: string]: Opens | undefined }
  if (Database === undefined) throw new Error(`this runtime has no ${driver}`)
  return prepared(new Database(file, { create: true, ...options }))
}

/**
 * Why SQLite has no type for a value. Packages take an object or an array that comes first for the names or the list of all values: a member of
 * a JSON body could replace those after it, such as the owner that the query asks for. Some cut a text at NUL, which then equals another
 * one, and store another number.
 */
function unfit(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('\0') ? 'text with NUL' : undefined
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? undefined : 'a bigint of more than 64 bits'
  return Object(value) === value && !ArrayBuffer.isView(value) ? 'an object or an array' : undefined
}

function bound(value: unknown, at: number): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Date) return value.toISOString()
  const why = unfit(value)
  if (why !== undefined) throw new TypeError(`SQLite has no type for value ${at + 1} of the query: ${why}`)
  return value === undefined ? null : value
}

const quoted = /'[^']*'|"[^"]*"|`[^`]*`|--.*|\/\*[\s\S]*?\*\//g
/** The packages execute only the first of several statements and ignore the others. A trigger is one statement that contains others. */
const isSeveral = (text: string) =>
  text.includes(';') &&
  /;\s*[^;\s]/.test(text.replace(quoted, '')) &&
  !/^\s*create\s+(temp\w*\s+)?trigger\b/i.test(text)

/** `$1` is a name to SQLite, which some packages refuse and others number by its first place. */
const withNumbers = numberedBy(quoted)

// After comments, and after the queries of a `with`.
const changing = /^(\s*with\b[\s\S]*)?\s*\b(update|delete\s+from|(insert|replace)(\s+or\s+\w+)?\s+into)\b/i

/** Whether no transaction is running, such as after `insert or rollback`: one cannot begin in another. */
function isOver(database: Sqlite): boolean {
  if (safely(() => database.all('begin', [])) === undefined) return false
  database.all('rollback', [])
  return true
}

/** To change a table, SQLite makes it anew, and `drop table` deletes what refers to it. In the transaction this has no effect any more. */
const unchecked = 'pragma foreign_keys = off'

/** The callers of one file. */
const newLine = () => ({ holder: undefined as Sqlite | undefined, turns: [] as (() => void)[] })
const lines = new Map<string, ReturnType<typeof newLine>>()

/**
 * Opens SQLite: one connection, which callers take in turn, together with those of other servers of this process that have the same file. A second
 * one would be refused with `SQLITE_BUSY` while a transaction of the first is open, and cannot wait for it, because waiting blocks the process.
 */
export async function openSqlite(settings: DriverSettings, { reports }: DriverHost): Promise<OpenDriver> {
  const file = settings.url.slice('sqlite:'.length)
  const database = await open(settings, file)
  // Several processes: readers do not wait for the writer, and a writer waits for a moment. Blocks this process meanwhile.
  for (const pragma of ['busy_timeout = 1000', 'journal_mode = wal', 'foreign_keys = on', 'synchronous = normal'])
    database.all(`pragma ${pragma}`, [])
  // A database in memory has no file; one in a file may have several names.
  const line = existsSync(file) ? madeIn(lines, realpathSync(file), newLine) : newLine()
  const run = (text: string, values: readonly unknown[]): QueryResult<never> => {
    if (isSeveral(text)) throw SeveralStatementsError(text.slice(0, 100))
    const rows = database.all(
      withNumbers(text, (number) => `?${number}`),
      values.map(bound),
    ) as never[]
    if (rows.length > 0 || !changing.test(text.replace(quoted, ' '))) return { rows, count: rows.length }
    const [row] = database.all('select changes() as count, last_insert_rowid() as id', [])
    return { rows, count: Number(row!.count), insertId: row!.id as number }
  }
  const query = (text: string, values: readonly unknown[]) => reports.run(text, values, async () => run(text, values))
  let isClosed = false
  const take = async () => {
    while (line.holder !== undefined) await new Promise<void>((next) => line.turns.push(next))
    line.holder = database
  }
  const leave = () => {
    if (line.holder !== database) return
    line.holder = undefined
    line.turns.shift()?.()
  }
  const end = () => {
    if (!isClosed) database.close()
    isClosed = true
    leave()
  }
  return {
    query: (text, values) => (line.holder === undefined ? query(text, values) : undefined),
    async connect() {
      await take()
      let isMigrating = false
      return {
        query(text, values) {
          isMigrating ||= text === unchecked
          return query(text, values)
        },
        hasRolledBack: () => isOver(database),
        release() {
          // A transaction may have been one that only reads.
          if (!isClosed) database.all('pragma query_only = 0', [])
          if (!isClosed && isMigrating) database.all('pragma foreign_keys = on', [])
          leave()
        },
      }
    },
    counts: () => ({ size: 1, idle: Number(line.holder === undefined), waiting: line.turns.length }),
    begin: ({ readOnly }, migrates = false) => [
      ...(migrates ? [unchecked] : []),
      `pragma query_only = ${Number(readOnly)}`,
      readOnly ? 'begin' : 'begin immediate',
    ],
    async close(late) {
      // What is never given back must not keep the file from others.
      late.addEventListener('abort', end)
      if (!late.aborted) await take()
      end()
    },
  }
}
