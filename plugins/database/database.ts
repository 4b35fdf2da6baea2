import { isFrameworkError, isInTime, type Logger, systemClock, within } from '../../kernel/index.ts'
import { placeOf, shownAddress } from '../shared/stores/address.ts'
import {
  type TransactionOptions,
  type TransactionSettings,
  transactionOptions,
} from '../shared/work/transaction-options.ts'
import { transactions } from '../shared/work/transactions.ts'
import type {
  Connection,
  DatabaseRow,
  DatabaseSystem,
  DriverSettings,
  OpenDriver,
  PoolCounts,
  QueryResult,
} from './drivers/contract.ts'
import { connectError, DatabaseBusyError, DatabaseClosedError, isConflict, TransactionEndedError } from './errors.ts'
import { type Inbox, inboxOf } from './inbox.ts'
import { Outbox } from './outbox.ts'
import { type DriverHost, Reports } from './queries.ts'
import { Level, refuseEnding, Transaction, type TransactionKind } from './transaction.ts'

/** Opens the pool with the package that the settings name. It does not connect yet. */
async function openDriver(settings: DriverSettings, host: DriverHost): Promise<OpenDriver> {
  if (settings.driver === 'pg') return (await import('./drivers/pg.ts')).openPg(settings, host)
  if (settings.driver === 'postgres') return (await import('./drivers/postgres.ts')).openPostgresJs(settings, host)
  if (settings.driver === 'mysql2') return (await import('./drivers/mysql.ts')).openMysql(settings, host)
  return (await import('./drivers/sqlite.ts')).openSqlite(settings, host)
}

/**
 * One database of a server: its pool, statements and transactions. In a transaction all of it belongs to the transaction, also what a query
 * builder does with it.
 *
 * @example
 * const server = new Server({ plugins: { database: { url: 'sqlite::memory:' } } })
 * server.get('/books/:id', async (req) => {
 *   const { rows } = await req.database.query('select * from books where id = ?', [req.params.id])
 *   return rows[0]
 * })
 */
export class DatabaseClient {
  /** The name of the database: `main`, or that in the option `named`. */
  readonly name: string
  /** @internal */
  readonly place: string | undefined
  readonly #settings: DriverSettings
  #driver: OpenDriver | undefined
  /** What the option `layer` has returned, otherwise itself; `undefined` before the boot. @internal */
  layer: unknown
  /** Where messages of its transactions wait for their delivery. @internal */
  outbox: Outbox | undefined
  /** The ids of `once`. @internal */
  inbox: Inbox | undefined

  /** @internal */
  constructor(name: string, settings: DriverSettings) {
    this.name = name
    this.#settings = settings
    if (settings.system === 'postgresql') this.place = placeOf(settings.url, settings.options)
  }

  /** @internal */
  get acquireTimeout(): number {
    return this.#settings.pool.acquireTimeout
  }

  /** `postgresql`, `mysql` (also MariaDB) or `sqlite`. */
  get system(): DatabaseSystem {
    return this.#settings.system
  }

  /**
   * Runs one statement, with the values of its placeholders: `$1`, in SQLite and MySQL also `?`. Always pass values in this
   * way, never in the text.
   *
   * @throws (as a rejection) the error of the package; DatabaseBusyError, with status 503, if no connection is free within `pool.acquireTimeout`;
   * TransactionStatementError for a `begin` or `commit`.
   */
  async query<Row extends object = DatabaseRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const running = this.running()
    // At once: it has its place before what the same code asks for next.
    if (running !== undefined) return running.query(text, values)
    refuseEnding(text)
    const result = this.#open().query(text, values)
    if (result !== undefined) return result
    const connection = await this.acquire()
    try {
      return await connection.query(text, values)
    } finally {
      connection.release()
    }
  }

  /**
   * Does work in a transaction, and commits it; a failure of the work rolls it back. It begins with the first statement. Within a transaction it is
   * a savepoint, whose options are those of the transaction.
   *
   * @throws (as a rejection) the error of the work, or of the commit.
   * @example
   * const database = server.services.get('databases').client()
   * await database.transaction(async () => {
   *   await database.query('update stock set copies = copies - 1 where book = 7')
   * })
   */
  transaction<Result>(work: () => Result | Promise<Result>, options: TransactionOptions = {}): Promise<Result> {
    const running = this.running()
    if (running !== undefined) return running.nested(work)
    return this.begin(work, transactionOptions.parse(options, 'transaction'))
  }

  /** Does work in a new transaction, which the signal rolls back. @internal */
  async begin<Result>(
    work: (transaction: Transaction) => Result | Promise<Result>,
    settings: TransactionSettings,
    signal?: AbortSignal,
    scope = '',
    { isAlone, migrates }: Pick<TransactionKind, 'isAlone' | 'migrates'> = { isAlone: false, migrates: false },
  ): Promise<Result> {
    const begin = () => this.#begin((isAlone && this.#open().alone) || this.#open().begin(settings, migrates))
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const transaction = new Transaction(this, begin, { scope, isWriting: !settings.readOnly, isAlone, migrates })
      const abort = () => void transaction.rollback(signal!.reason)
      signal?.addEventListener('abort', abort, { once: true })
      try {
        // Awaited within: a query of a query builder begins when it is awaited.
        const value = await transactions.run(transaction.level, async () => work(transaction))
        signal?.throwIfAborted()
        // A response may have rolled it back.
        if (transaction.state === 'open') await transaction.commit()
        return value
      } catch (error) {
        await transaction.rollback()
        // What waited for the commit may fail as well, and must not repeat what was committed.
        const mayRepeat = transaction.state === 'rolledBack' && isConflict(error)
        if (attempt >= settings.retry || !mayRepeat) throw error
        // Two that hinder each other must not begin again together.
        await systemClock.sleep(Math.random() * Math.min(20 * 2 ** attempt, 1_000))
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    }
  }

  /** The transaction of this database to which the running code belongs. @internal */
  running(): Level | undefined {
    const level = transactions.getStore()
    if (!(level instanceof Level) || level.transaction.host !== this || level.state === 'committed') return undefined
    // Its savepoint was taken back: what comes later must not become part of the rest.
    if (level.state === 'rolledBack' && level.transaction.state === 'open')
      throw TransactionEndedError('a statement', 'rolled back to its savepoint')
    return level
  }

  /** A connection for one caller, which has to give it back; in a transaction that of the transaction. @internal */
  async connect(): Promise<Connection> {
    const running = this.running()
    if (running === undefined) return this.acquire()
    return { query: (text, values) => running.query(text, values), release: () => {} }
  }

  /** A connection of the pool, whether in a transaction or not. @internal */
  acquire(): Promise<Connection> {
    const { pool } = this.#settings
    const connecting = this.#open().connect()
    const late = () => {
      connecting.then((connection) => connection.release()).catch(() => {})
      throw DatabaseBusyError(this.name, pool, this.counts)
    }
    return within(connecting, pool.acquireTimeout, late, systemClock)
  }

  async #begin(statements: readonly string[]): Promise<Connection> {
    const connection = await this.acquire()
    try {
      for (const statement of statements) await connection.query(statement, [])
    } catch (error) {
      connection.release(true)
      throw error
    }
    return connection
  }

  /** The statements that begin a transaction on a connection of `connect`; one becomes a savepoint in a running transaction. @internal */
  beginning(isolation: string | undefined, accessMode: string): readonly string[] {
    if (this.running() !== undefined) return ['begin']
    const settings = { isolation: isolation as TransactionSettings['isolation'], retry: 0 }
    return this.#open().begin({ ...settings, readOnly: accessMode === 'read only' })
  }

  /** The connections of its pool. */
  get counts(): PoolCounts {
    return this.#driver?.counts() ?? { size: 0, idle: 0, waiting: 0 }
  }

  /** Connects, and makes its tables and its layer. @internal */
  async open(server: object, log: Logger): Promise<void> {
    const { name } = this
    const { url, system, layer, outbox, inbox } = this.#settings
    try {
      const reports = new Reports(name, this.#settings, log)
      const host = { name, reports, running: () => this.running(), acquire: () => this.acquire() }
      this.#driver = await openDriver(this.#settings, host)
      await this.query('select 1')
    } catch (error) {
      await this.close(1_000).catch(() => {})
      if (isFrameworkError(error) && error.code === 'PeerMissingError') throw error
      throw connectError(name, system === 'sqlite' ? url : shownAddress(url), error)
    }
    if (outbox) this.outbox = new Outbox(this, outbox, server, log, this.#driver.listen)
    if (inbox) this.inbox = inboxOf(this, inbox)
    await this.outbox?.open()
    await this.inbox?.open(log)
    this.layer = layer === undefined ? this : layer({ database: this, pool: this.#driver.pool } as never)
  }

  /** Closes the pool when its connections have been given back, or after `ms` milliseconds. @internal */
  async close(ms: number): Promise<void> {
    const driver = this.#driver
    this.inbox?.close()
    const late = new AbortController()
    const end = async () => {
      // It may wait for a connection that is never given back.
      if (this.outbox !== undefined) await isInTime(this.outbox.close(), ms, systemClock)
      this.#driver = undefined
      await driver?.close(late.signal)
    }
    await within(end(), ms, () => late.abort(), systemClock)
    this.#driver = undefined
  }

  #open(): OpenDriver {
    if (this.#driver === undefined) throw DatabaseClosedError(this.name)
    return this.#driver
  }
}
