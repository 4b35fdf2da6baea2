import { defineErrors } from '../../kernel/index.ts'
import type { DriverSettings, PoolCounts } from './drivers/contract.ts'

export const { DatabaseConnectError, DatabaseBusyError, DatabaseClosedError, DatabaseNameError } = defineErrors({
  DatabaseConnectError: (name: string, where: string, why: string, remedy: string) =>
    `the database "${name}" at ${where} cannot be used: ${why}. ${remedy}`,
  DatabaseBusyError: [
    503,
    (name: string, { acquireTimeout, max }: DriverSettings['pool'], { size, idle, waiting }: PoolCounts) =>
      `no connection to the database "${name}" within ${acquireTimeout} ms: ${size - idle} of at most ${max} are in use, and ${waiting} callers wait. Keep transactions short and do nothing else in them, or raise pool.max`,
  ],
  DatabaseClosedError: [
    503,
    (name: string) => `the database "${name}" is not open: it needs a server that has booted and has not closed`,
  ],
  DatabaseNameError: (name: string, names: readonly string[]) =>
    `there is no database "${name}". Add it: plugins: { database: { named: { ${name}: { url } } } }. Databases: ${names.join(', ')}`,
})

export const { MigrationError, MigrationsMissingError, MigrationsPendingError } = defineErrors({
  MigrationError: (name: string, text: string, why: string, staysInPart: boolean) =>
    `the migration "${name}" failed${staysInPart ? '' : ', and none of this run has run'}: ${why}, in "${text}"${staysInPart ? '. Those before it have run, and so has this one up to its last statement that changes tables, because MySQL commits each of these: take that back by hand, or out of the migration, and migrate again' : ''}`,
  MigrationsMissingError: (name: string, what: string) =>
    `the database "${name}" has no ${what}: add it to its options`,
  MigrationsPendingError: (name: string, pending: readonly string[]) =>
    `migrations of the database "${name}" have not run: ${pending.join(', ')}. Run them: npm run framework -- migrate`,
})

export const { MigrationReferencesError, PlaceholdersError, SeveralStatementsError } = defineErrors({
  MigrationReferencesError: (name: string, references: string) =>
    `the migrations of the database "${name}" would leave rows that refer to missing ones, so none of this run has run: ${references}. SQLite does not check foreign keys while it migrates, nor do \`on delete cascade\` and the like apply: change or delete these rows in a migration`,
  PlaceholdersError: (text: string, marks: number, values: number) =>
    `the statement "${text}" has ${marks} placeholders and ${values} values for them: give each one, and write all as ? or all as $1, $2`,
  SeveralStatementsError: (text: string) =>
    `SQLite runs one statement at a time, and this query has several: "${text}". Run each by itself; in sqlMigrations, make a list of them`,
})

export const { TransactionStatementError, TransactionFailedError, TransactionEndedError } = defineErrors({
  TransactionStatementError: (statement: string, commits: 'would' | 'has' | 'not' | 'ignored' | 'waits' = 'not') =>
    ({
      has: `"${statement}", or a procedure before it, has committed the transaction, and later statements are refused. Call what contains a commit, or changes tables, outside of transactions`,
      would: `"${statement}" would commit the transaction: MySQL does so for each statement that changes tables or rights. Run it before the transaction, or in a migration`,
      ignored: `SQLite ignores "${statement}" in a transaction. Run it before; migrations run without foreign keys, which are checked at their end`,
      waits: `"${statement}" has waited for a savepoint beside it for longer than pool.acquireTimeout: the savepoint's work may wait for this statement, as for a promise that both share. Begin the statement before the savepoint, or within it`,
      not: `"${statement}" is not for query(): the framework begins and ends transactions. Use database.transaction(work), or the option transaction of a route, and throw an error to roll back`,
    })[commits],
  TransactionFailedError: () =>
    'the transaction was rolled back by the database, because one of its statements had failed. Let the error of that statement pass, or run the statement in database.transaction() of its own',
  TransactionEndedError: [
    500,
    (what: string, state: string) =>
      `${what} came too late: its transaction is ${state}. Await all queries before the handler ends, also those of a streamed body`,
  ],
})

interface Failure {
  readonly code?: unknown
  readonly errcode?: unknown
  readonly message?: string
}

const codeOf = (error: unknown) => String((Object(error) as Failure).code)

/** `40001`, `40P01`, `ER_LOCK_DEADLOCK`, `SQLITE_BUSY`: the database has ended the transaction in favour of another one, and it may succeed when it is repeated. */
export function isConflict(error: unknown): boolean {
  const { errcode, message = '' } = Object(error) as Failure
  // `node:sqlite` has a number, and `node-sqlite3-wasm` only the message.
  const codes = /^(40001|40P01|ER_LOCK_DEADLOCK|ER_LOCK_WAIT_TIMEOUT|ER_CHECKREAD|SQLITE_BUSY.*)$/
  return codes.test(codeOf(error)) || errcode === 5 || message === 'database is locked'
}

const inUrl = 'in the url (DATABASE_URL)'
const startOr = `Start the server, or correct host and port ${inUrl}`
/** Why a database cannot be used, by code, name or message, and what to correct. No reason contains the password. */
const reasons: readonly (readonly [codes: RegExp, why: string, remedy: string])[] = [
  [/^(28P01|28000|ER_(DB)?ACCESS_DENIED.*)$/, 'it refuses the user or the password', `Correct them ${inUrl}`],
  [/^SASL/, 'it asks for a password, and there is none', `Add it ${inUrl}`],
  [/^(3D000|ER_BAD_DB_ERROR)$/, 'the server has no database of that name', `Create it, or correct the name ${inUrl}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host is unknown', `Correct the host ${inUrl}`],
  [/^(ECONNREFUSED|ConnectionRefused)$/, 'nothing listens there', startOr],
  [/^(53300|ER_CON_COUNT_ERROR)$/, 'it has too many connections', 'Lower pool.max, or raise its max_connections'],
  [/^(ETIMEDOUT|CONNECT_TIMEOUT|EHOSTUNREACH|DatabaseBusyError)$/, 'it does not respond', 'Check host and firewall'],
  [
    /file is not a database|image is malformed/,
    'the file is not a database of SQLite',
    `Move it away, or correct the path ${inUrl}`,
  ],
  [
    /SQLITE|SQLite/,
    'the file cannot be opened',
    `Correct the path ${inUrl}, or create its folder and let this user write to it`,
  ],
]

/** The error of a boot whose database does not respond: what is wrong, and the remedy. */
export function connectError(name: string, where: string, error: unknown): Error {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const { message = '', name: kind } = Object(inner) as Failure & { readonly name?: string }
  const signs = [codeOf(inner), kind ?? '', message]
  const [, why, remedy] = reasons.find(([codes]) => signs.some((sign) => codes.test(sign))) ?? []
  const told = DatabaseConnectError(name, where, why ?? message, remedy ?? 'Correct the options of the plugin database')
  return Object.assign(told, { cause: error })
}
