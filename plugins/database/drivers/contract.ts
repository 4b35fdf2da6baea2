import type { TransactionOptions, TransactionSettings } from '../../shared/work/transaction-options.ts'

/** The kind of a database, by the names of OpenTelemetry. */
export type DatabaseSystem = 'postgresql' | 'mysql' | 'sqlite'

/** The supported packages, by the kind of their databases. */
export const drivers = {
  pg: 'postgresql',
  postgres: 'postgresql',
  mysql2: 'mysql',
  'node:sqlite': 'sqlite',
  'bun:sqlite': 'sqlite',
  'better-sqlite3': 'sqlite',
  'node-sqlite3-wasm': 'sqlite',
} as const satisfies { readonly [driver: string]: DatabaseSystem }

/** A package that connects to a database. */
export type DatabaseDriver = keyof typeof drivers

/** What is opened, and how. */
export interface DriverSettings {
  readonly driver: DatabaseDriver
  readonly system: DatabaseSystem
  readonly url: string
  readonly pool: {
    readonly max: number
    readonly acquireTimeout: number
    readonly idleTimeout: number
  }
  readonly statementTimeout: number | false
  readonly slowQuery: number
  readonly log: 'all' | 'slow' | 'none'
  readonly outbox: { readonly table: string; readonly pollInterval: number; readonly listen?: boolean } | false
  readonly inbox: { readonly table: string; readonly keep: number } | false
  readonly layer: ((parts: never) => unknown) | undefined
  readonly options: { readonly [name: string]: unknown } | undefined
}

export type Execute<Result> = (connection: Connection, text: string) => Promise<Result>

/** The running transaction, as the pool of a package sees it. */
export interface StatementRunner {
  /** Runs one statement on the connection of the transaction, after the earlier ones. */
  run<Result>(text: string, execute: Execute<Result>): Promise<Result>
  /** The connection, once the transaction has begun and its earlier statements have ended. */
  ready(): Promise<Connection>
}

/** A row by the names of its columns. */
export type DatabaseRow = Record<string, unknown>

/** The result of one statement. */
export interface QueryResult<Row = DatabaseRow> {
  /** The rows that it has returned. */
  readonly rows: Row[]
  /** The number of rows that it has returned or changed. */
  readonly count: number
  /** The id of the last inserted row, of MySQL the first one of the statement; not of Postgres. */
  readonly insertId?: number | bigint
  /** The statement that the database has executed, such as `ROLLBACK`; Postgres only. */
  readonly command?: string
}

/** A connection that one caller has taken from the pool. */
export interface Connection {
  query(text: string, values: readonly unknown[]): Promise<QueryResult<never>>
  /** Whether a transaction is running after the last statement; MySQL only, where some statements commit it. */
  isInTransaction?(): boolean
  /** Whether the database has ended the transaction with a failed statement, and would commit each further one by itself; not Postgres. */
  hasRolledBack?(error: unknown): boolean
  /** Gives the connection back, or closes it if it must not be used again. */
  release(isBroken?: boolean): void
}

/** A connection that knows what its package calls it. */
export type ClientConnection<Client> = Connection & { readonly client: Client }

/** The connections of a pool, by what they do. */
export interface PoolCounts {
  /** Connections that are open. */
  readonly size: number
  /** Open connections that no caller has taken. */
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
}

/** What a connection that listens reports. */
export interface ListenEvents {
  /** It listens from now on; what was committed before has to be looked for. */
  open(): void
  message(payload: string): void
  lost(): void
}

/** A pool of one of the supported packages. */
export interface OpenDriver {
  /** The pool of the package, for layers, if it takes part in transactions. */
  readonly pool?: object
  /** Runs one statement outside of transactions; `undefined` if it has to wait for a connection. */
  query(text: string, values: readonly unknown[]): Promise<QueryResult<never>> | undefined
  connect(): Promise<Connection>
  /** Listens to a channel with a connection outside of the pool, which it ends when the promise rejects; Postgres only. */
  listen?(channel: string, on: ListenEvents, until: Promise<never>): Promise<void>
  counts(): PoolCounts
  /** The statements that begin a transaction; `migrates`: one of migrations, which may make tables anew. */
  begin(options: TransactionSettings, migrates?: boolean): readonly string[]
  /** The statements after which a connection is the only one that migrates; MySQL only, where a transaction cannot contain `create table`. */
  readonly alone?: readonly string[]
  /** Closes the connections, after those in use have been given back, or when the signal aborts. */
  close(signal: AbortSignal): Promise<void>
}

/** The database of an outbox or an inbox. */
export interface TableHost {
  readonly name: string
  readonly system: DatabaseSystem
  query<Row extends object = DatabaseRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  transaction(work: () => Promise<unknown>, options: TransactionOptions): Promise<unknown>
}

/** The statements that begin a transaction of Postgres. */
export const postgresBegin: OpenDriver['begin'] = ({ isolation, readOnly }) => [
  `begin${isolation === undefined ? '' : ` isolation level ${isolation}`}${readOnly ? ' read only' : ''}`,
]

/** The time limits of Postgres, which a pooler may refuse. */
export const limitsOf = ({ statementTimeout: limit }: DriverSettings) =>
  limit === false ? {} : { statement_timeout: limit, idle_in_transaction_session_timeout: limit }

/** A module of the runtime, if it has it; the types are those of an older Node.js. */
export const builtin = (name: string): unknown => process.getBuiltinModule?.(name)

/** What the runtime has for SQLite, and where it has nothing, a package without native code. */
export function sqliteOfRuntime(): DatabaseDriver {
  if ('Bun' in globalThis) return 'bun:sqlite'
  return builtin('node:sqlite') === undefined ? 'node-sqlite3-wasm' : 'node:sqlite'
}
