import { AsyncLocalStorage } from 'node:async_hooks'
import { defineErrors } from '../../../kernel/index.ts'
import type { TransactionSettings } from './transaction-options.ts'

export const { TransactionOverError, TransactionPluginError } = defineErrors({
  TransactionPluginError: () =>
    'the option transaction needs the plugin database: new Server({ plugins: { database: { url } } })',
  TransactionOverError: (what: string) =>
    `${what} belongs to a transaction that was rolled back, so it is not done. Await all work of the transaction before it ends`,
})

/** A transaction of a database in which work runs. */
export interface RunningTransaction {
  /** How far it is; `ending` is the time of its `COMMIT`. */
  readonly state: 'open' | 'ending' | 'committed' | 'rolledBack'
  /** Adds work for the time after the commit; it is not done if the transaction is rolled back. */
  afterCommit(work: () => unknown): void
}

/** Runs work in transactions of the main database of a server. */
export interface TransactionRunner {
  begin(work: () => unknown, settings: TransactionSettings, signal: AbortSignal): Promise<unknown>
}

/** The runners by server, each set by the plugin `database`. */
export const transactionRunners = new WeakMap<object, TransactionRunner>()

/** The transaction to which the running code belongs. It is entered by transactions only, so that others do not pay for it. */
export const transactions = new AsyncLocalStorage<RunningTransaction | undefined>()

/**
 * Does something that cannot be taken back once the transaction of the running code is committed, such as sending a message, and returns
 * `meanwhile`. Outside of a transaction, it is done immediately and its result is returned.
 *
 * @throws TransactionOverError in code of a transaction that was rolled back.
 */
export function whenCommitted<Result>(what: string, work: () => Result, meanwhile: Awaited<Result>): Result {
  const transaction = transactions.getStore()
  if (transaction === undefined || transaction.state === 'committed') return work()
  if (transaction.state === 'rolledBack') throw TransactionOverError(what)
  transaction.afterCommit(work)
  return Promise.resolve(meanwhile) as Result
}

/**
 * Does work once the transaction of the running code is committed, before the response is sent; outside of a transaction, immediately. It is not done
 * if the transaction is rolled back. Its failure fails the request, although the transaction is committed.
 *
 * @throws TransactionOverError in code of a transaction that was rolled back.
 * @example
 * server.post('/orders', { transaction: true }, async (req, res) => {
 *   await req.database.query('insert into orders (book) values ($1)', [7])
 *   afterCommit(() => fetch('https://stock.example/reload', { method: 'POST' }))
 *   res.created()
 * })
 */
export async function afterCommit(work: () => unknown): Promise<void> {
  await whenCommitted('the function given to afterCommit', async () => void (await work()), undefined)
}

/** Does work that belongs to no transaction, although it may have been started by code in one. */
export const outsideTransactions = <Result>(work: () => Result): Result =>
  transactions.getStore() === undefined ? work() : transactions.run(undefined, work)
