import { option, type SettingsOf } from '../options/index.ts'

/** How a transaction runs. */
export interface TransactionOptions {
  /** The isolation level. Default: that of the database. SQLite has only `serializable`, which all others permit. */
  isolation?: 'read committed' | 'repeatable read' | 'serializable'
  /** Whether the database refuses to write in it. Default `false`. */
  readOnly?: boolean
  /** How often it is repeated if the database has ended it in favour of another one (`40001`, `40P01`, `ER_LOCK_DEADLOCK`, `SQLITE_BUSY`). Default 0. */
  retry?: number
}

export const transactionOptions = option
  .shape({
    isolation: option.oneOf('read committed', 'repeatable read', 'serializable'),
    readOnly: option.flag().default(false),
    retry: option.int({ min: 0, max: 20 }).default(0),
  })
  .typed<TransactionOptions>()

export type TransactionSettings = SettingsOf<typeof transactionOptions>

/** The option `transaction` of a route or of a subscriber. */
export const transactionOption = option.feature(transactionOptions)
