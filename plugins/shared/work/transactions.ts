import { AsyncLocalStorage } from 'node:async_hooks'
import { defineErrors } from '../../../kernel/index.ts'
import type { OutboxMessage } from './outbox.ts'
import type { TransactionSettings } from './transaction-options.ts'

export const { InboxError, TransactionOverError, TransactionPluginError } = defineErrors({
  InboxError: (id: string, problem: string) => `once("${id}", …) ${problem}`,
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
  /** Its database, if it can write into it, as `placeOf` compares it. */
  readonly place: string | undefined
  /** Runs a statement of it. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** The server that delivers what {@link store} has written; `undefined` if its database has no outbox. */
  readonly outboxServer: object | undefined
  /** Writes a message as a row of this transaction, which is delivered after the commit. */
  store(message: OutboxMessage): Promise<unknown>
  /** Does work unless it was done before under this id, in a savepoint; returns whether it was done now. */
  once(id: string, work: () => unknown): Promise<boolean>
}

/** Runs work in transactions of the main database of a server. */
export interface TransactionRunner {
  begin(work: () => unknown, settings: TransactionSettings, signal: AbortSignal, scope: string): Promise<unknown>
}

/** The runners by server, each set by the plugin `database`. */
export const transactionRunners = new WeakMap<object, TransactionRunner>()

/** The transaction to which the running code belongs. It is entered by transactions only, so that others do not pay for it. */
export const transactions = new AsyncLocalStorage<RunningTransaction | undefined>()

/** What writes into the outbox of the running transaction; `undefined` without one, or if it belongs to another server. */
export function outboxFor(server: object | undefined): ((message: OutboxMessage) => Promise<unknown>) | undefined {
  const transaction = transactions.getStore()
  const isOpen = transaction?.state === 'open' || transaction?.state === 'ending'
  return isOpen && server !== undefined && transaction.outboxServer === server
    ? (message) => transaction.store(message)
    : undefined
}

/** The running transaction, if it is one of the database at this place. */
export function transactionAt(place: string | undefined): RunningTransaction | undefined {
  const transaction = transactions.getStore()
  return transaction?.state === 'open' && place !== undefined && transaction.place === place ? transaction : undefined
}

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

/**
 * Does work in the transaction of the running code, unless it was done before under the same id; returns whether it was done now. What it changes in
 * the database then happens once, however often a message is delivered. The id counts for its queue, MQTT subscription or route; needs the option `inbox`
 * of the plugin `database`. Like a savepoint, work that fails takes back its own changes and its id.
 *
 * @throws (as a rejection) InboxError outside of a transaction, or without the option; the error of the work.
 * @example
 * const orders = memoryQueue<{ book: number }>('orders')
 * await orders.subscribe(
 *   async ({ book }, message) => {
 *     await once(message.id, () => server.services.get('databases').client().query('insert into sold values ($1)', [book]))
 *   },
 *   { transaction: true },
 * )
 */
export async function once(id: string, work: () => unknown): Promise<boolean> {
  const transaction = transactions.getStore()
  if (transaction === undefined || transaction.state === 'committed')
    throw InboxError(id, 'needs a transaction. Give the route or the subscriber the option transaction: true')
  if (typeof id !== 'string' || id === '') throw InboxError(id, 'needs an id that is not empty, such as message.id')
  return transaction.once(id, work)
}

/** Does work that belongs to no transaction, although it may have been started by code in one. */
export const outsideTransactions = <Result>(work: () => Result): Result =>
  transactions.getStore() === undefined ? work() : transactions.run(undefined, work)
