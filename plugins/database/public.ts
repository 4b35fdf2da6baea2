// The names that `framework` has as well.

import type { TransactionOptions } from '../shared/work/transaction-options.ts'
import type { MainDatabase } from './layers.ts'
import type { Databases } from './service.ts'

export type { TransactionOptions } from '../shared/work/transaction-options.ts'
export { afterCommit, once } from '../shared/work/transactions.ts'
export type { DatabaseClient } from './database.ts'
export type { DatabaseDriver, DatabaseRow, DatabaseSystem, PoolCounts, QueryResult } from './drivers/contract.ts'
export { kyselyDialect } from './kysely.ts'
export type { DatabaseLayers, LayerOf, MainDatabase } from './layers.ts'
export { kyselyMigrations, sqlMigrations } from './migrations.ts'
export type {
  DatabaseConnectionOptions,
  DatabaseMigrations,
  DatabaseOptions,
  DatabasePoolOptions,
  InboxOptions,
  LayerParts,
  MigrationParts,
  NamedDatabaseOptions,
  OutboxOptions,
} from './options.ts'
export type { Databases } from './service.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The main database, with the plugin `database`: what its `layer` returns, otherwise a `DatabaseClient`. */
    database: MainDatabase
    /** All databases by name, with the plugin `database`. */
    databases: Databases
  }
}

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/http/request/request.ts' {
  interface Request {
    /** The main database, with the plugin `database`; in a route with the option `transaction`, in its transaction. */
    readonly database: MainDatabase
  }
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /**
     * Whether the handler runs in a transaction of the main database: it begins with the first statement, is committed before the response is sent,
     * and rolled back for a status of 400 or above, an error, a client that has gone, and a time limit.
     */
    transaction?: boolean | TransactionOptions
  }
}
