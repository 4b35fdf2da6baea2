import { systemClock, within } from '../../kernel/index.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import type { OutboxMessage } from '../shared/work/outbox.ts'
import { InboxError, type RunningTransaction, transactions } from '../shared/work/transactions.ts'
import type { Connection, DatabaseSystem, Execute, QueryResult, StatementRunner } from './drivers/contract.ts'
import { TransactionEndedError, TransactionFailedError, TransactionStatementError } from './errors.ts'
import type { Inbox } from './inbox.ts'
import type { Outbox } from './outbox.ts'

/** The database of a transaction. */
export interface TransactionHost {
  readonly system: DatabaseSystem
  readonly place: string | undefined
  readonly outbox: Outbox | undefined
  readonly inbox: Inbox | undefined
  readonly acquireTimeout: number
}

// What may be before a statement: spaces and comments, and the marks of those that MySQL executes.
const before = String.raw`^(?:\s|/\*M?!\d*|/\*(?!M?!)(?:[^*]|\*(?!/))*\*/|(?:--|#)[^\n]*\n)*`
const starting = (words: string, after = '') => new RegExp(String.raw`${before}(${words})\b${after}`, 'i')

// With `autocommit`, which would stay off for the next caller.
const ends = String.raw`begin|start\s+transaction|commit|end|rollback|abort|prepare\s+transaction|set\s(?:[^'"]*[^'"\w])?autocommit`
const ending = starting(ends, String.raw`(?!\s+(?:(?:work|transaction)\s+)?to\b)`)

/** Before these, MySQL commits the transaction; not before those of temporary tables. */
const commits = String.raw`alter|analyze|backup|check|(create|drop)(?!\s+(or\s+replace\s+)?temporary)|flush|grant|install|lock|optimize|rename|repair|reset|revoke|set\s+password|truncate|uninstall|unlock`
const committing = starting(commits)

/** SQLite ignores it in a transaction. */
const switchingKeys = starting(String.raw`pragma\s+(\w+\s*\.\s*)?foreign_keys`, String.raw`\s*[=(]`)

const ofTransactions = starting(`${ends}|savepoint|release`)

/**
 * Refuses a statement that begins or ends a transaction, or a part of one: the next statement may have another connection, and this one another
 * caller. In SQLite, a savepoint alone begins a transaction, to which the writes of all callers would belong.
 */
export function refuseEnding(text: string): void {
  if (ofTransactions.test(text)) throw TransactionStatementError(text.trim())
}

/** What a transaction is for. */
export interface TransactionKind {
  /** Where the ids of `once` count. */
  readonly scope: string
  /** Whether it can write: what waits for the commit of another one needs no row. */
  readonly isWriting: boolean
  /** Whether it has its connection alone, without a transaction: a `begin` in it is a real one. */
  readonly isAlone: boolean
  /** Whether it is one of migrations. */
  readonly migrates: boolean
}

/**
 * One transaction: it takes a connection and begins with its first statement, and does one statement after the other. Statements that would begin or
 * end it, from a query builder, become savepoints.
 */
export class Transaction {
  /** Its database. */
  readonly host: TransactionHost
  readonly kind: TransactionKind
  state: RunningTransaction['state'] = 'open'
  readonly #begin: () => Promise<Connection>
  readonly #outer = transactions.getStore()
  #connection: Promise<Connection> | undefined
  #tail: Promise<unknown> = Promise.resolve()
  /** Why it was rolled back before its work had ended. */
  #reason: unknown
  /** What it fails with, since the database has ended it. */
  #failure: Error | undefined
  readonly #savepoints: { readonly name: string; readonly isOwn: boolean }[] = []
  #count = 0
  /** What the work runs in. */
  readonly level = new Level(this)

  constructor(host: TransactionHost, begin: () => Promise<Connection>, kind: TransactionKind) {
    this.host = host
    this.kind = kind
    this.#begin = begin
  }

  /** Runs one statement on the connection of the transaction, after the earlier ones; `isOwn`: one that begins or ends a savepoint of the framework. */
  run<Result>(text: string, execute: Execute<Result>, isOwn = false): Promise<Result> {
    return this.#inTurn(async () => {
      const connection = await this.#begun(text)
      const statement = this.#within(text, isOwn)
      const result = await execute(connection, statement).catch(async (cause: unknown) => {
        // It has rolled all of it back, and would commit each further statement by itself.
        if (connection.hasRolledBack?.(cause)) this.#failure = Object.assign(TransactionFailedError(), { cause })
        // An error does not say whether what has failed had committed before.
        else await (connection.isInTransaction && connection.query('do 0', []).catch(() => {}))
        this.#noteEnd(connection, text)
        throw cause
      })
      this.#noteEnd(connection, text)
      if (this.#failure !== undefined) throw this.#failure
      return result
    })
  }

  /** Notes that a statement has committed the transaction. */
  #noteEnd({ isInTransaction }: Connection, text: string): void {
    if (!this.kind.isAlone && isInTransaction?.() === false)
      this.#failure ??= TransactionStatementError(text.trim().slice(0, 100), 'has')
  }

  /** The connection, once the transaction has begun and its earlier statements have ended. */
  ready(): Promise<Connection> {
    return this.#inTurn(() => this.#begun('BEGIN'))
  }

  /** Commits, and then does what has waited for it. */
  async commit(): Promise<void> {
    await this.#inTurn(async () => {
      const connection = await this.#connection
      this.#mustBeOpen('COMMIT')
      this.state = 'ending'
      try {
        const result = await connection?.query('commit', [])
        if (result?.command === 'ROLLBACK') throw TransactionFailedError()
      } catch (error) {
        this.state = 'rolledBack'
        await this.#takeBack(connection)
        throw error
      }
      this.state = 'committed'
      connection?.release(this.kind.isAlone)
    })
    const { deferred } = this.level
    if (this.#outer?.state === 'open') for (const work of deferred) this.#outer.afterCommit(work)
    else await transactions.run(undefined, () => doAll(deferred))
  }

  /** Rolls back, also while its work continues: statements that come later fail. */
  async rollback(reason?: unknown): Promise<void> {
    if (this.state !== 'open') return
    this.state = 'rolledBack'
    this.#reason = reason
    await this.#inTurn(async () => this.#takeBack(await this.#connection?.catch(() => undefined)))
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work)
    this.#tail = result.catch(() => {})
    return result
  }

  /** A connection that could not roll back is closed: the next caller must not find itself in this transaction. */
  async #takeBack(connection: Connection | undefined): Promise<void> {
    await connection?.query('rollback', []).then(
      () => connection.release(this.kind.isAlone),
      () => connection.release(true),
    )
  }

  #mustBeOpen(what: string): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.state === 'open') return
    const state = this.state === 'rolledBack' ? 'rolled back' : 'committed'
    const error = TransactionEndedError(`the statement "${what.slice(0, 100)}"`, state)
    throw Object.assign(error, this.#reason !== undefined && { cause: this.#reason })
  }

  async #begun(text: string): Promise<Connection> {
    this.#mustBeOpen(text)
    this.#connection ??= this.#begin()
    const connection = await this.#connection
    // It may have been given up while it waited for a connection.
    this.#mustBeOpen(text)
    return connection
  }

  /** The statement as it may be executed within the transaction. */
  #within(text: string, isOwn: boolean): string {
    const verb = ending.exec(text)?.[1]?.toLowerCase()
    if (verb === undefined) {
      // Statements that tools write into migrations; these run without foreign keys.
      if (this.host.system === 'sqlite' && !this.kind.migrates && switchingKeys.test(text))
        throw TransactionStatementError(text.trim(), 'ignored')
      if (this.host.system === 'mysql' && !this.kind.isAlone && committing.test(text))
        throw TransactionStatementError(text.trim().slice(0, 100), 'would')
      return text
    }
    // Only the first of several would be replaced by a savepoint, and the others be lost.
    if (/^(set|prepare)/.test(verb) || /;\s*\S|\bnot\s+atomic\b/i.test(text))
      throw TransactionStatementError(text.trim())
    if (!/^(begin|start)/.test(verb)) {
      // What code has begun and not ended ends with the work around it, and that only by itself.
      const at = isOwn ? this.#savepoints.findLastIndex((one) => one.isOwn) : this.#savepoints.length - 1
      if (this.#savepoints[at]?.isOwn !== isOwn) throw TransactionStatementError(text.trim())
      const [{ name } = { name: '' }] = this.#savepoints.splice(at)
      if (name === '') return verb
      return /^(commit|end)/.test(verb) ? `release savepoint ${name}` : `rollback to savepoint ${name}`
    }
    const isFirst = this.kind.isAlone && this.#savepoints.length === 0
    const name = isFirst ? '' : `framework_${++this.#count}`
    this.#savepoints.push({ name, isOwn })
    return isFirst ? 'begin' : `savepoint ${name}`
  }
}

const query = (connection: Connection, text: string) => connection.query(text, [])

/** Whether a transaction is running, as a whole or down to a savepoint: what the code in it belongs to. */
export class Level implements RunningTransaction, StatementRunner {
  readonly transaction: Transaction
  readonly deferred: (() => unknown)[] = []
  readonly #parent: Level | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** The savepoint that is open, what waits for it, and so on. */
  #inLine = 0
  #outcome: 'released' | 'rolledBack' | undefined

  constructor(transaction: Transaction, parent?: Level) {
    this.transaction = transaction
    this.#parent = parent
  }

  get state(): RunningTransaction['state'] {
    return this.#outcome === 'rolledBack' ? 'rolledBack' : (this.#parent ?? this.transaction).state
  }

  afterCommit(work: () => unknown): void {
    if (this.#outcome === 'released') this.#parent!.afterCommit(work)
    else this.deferred.push(work)
  }

  get place(): string | undefined {
    return this.transaction.kind.isWriting ? this.transaction.host.place : undefined
  }

  /** Runs one statement, after the earlier ones and after the savepoints that are open: their rollback would take it back. */
  run<Result>(text: string, execute: Execute<Result>): Promise<Result> {
    const current = transactions.getStore()
    // A connection of a query builder may have been taken before the savepoint in which it is used.
    const level = current instanceof Level && current.transaction === this.transaction ? current : this
    return level.#afterSavepoints(text, () => this.transaction.run(text, execute))
  }

  /** The connection, once the transaction has begun and its earlier statements have ended. */
  ready(): Promise<Connection> {
    return this.#afterSavepoints('BEGIN', () => this.transaction.ready())
  }

  #afterSavepoints<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    // Code that outlives its savepoint belongs to the code around it.
    if (this.#outcome === 'released') return this.#parent!.#afterSavepoints(text, work)
    if (this.#inLine === 0) return work()
    let state: 'waiting' | 'begun' | 'late' = 'waiting'
    const result = this.#inTurn(async () => {
      if (state === 'late') throw TransactionStatementError(text.trim().slice(0, 100), 'waits')
      state = 'begun'
      return work()
    })
    // The work of the savepoint may itself wait for this statement: for a promise that both share, such as that of a batch.
    const late = () => {
      if (state === 'begun') return result
      state = 'late'
      throw TransactionStatementError(text.trim().slice(0, 100), 'waits')
    }
    return within(result, this.transaction.host.acquireTimeout, late, systemClock)
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#inLine++
    const result = this.#turn.then(work).finally(() => this.#inLine--)
    this.#turn = result.catch(() => {})
    return result
  }

  query(text: string, values: readonly unknown[] = []): Promise<QueryResult<never>> {
    return this.run(text, (connection, statement) => connection.query(statement, values))
  }

  get #outbox() {
    return this.transaction.kind.isWriting ? this.transaction.host.outbox : undefined
  }

  get outboxServer(): object | undefined {
    return this.#outbox?.server
  }

  async store(message: OutboxMessage): Promise<void> {
    const outbox = this.#outbox!
    await this.run('insert', (connection) => outbox.store(connection, message))
    this.afterCommit(() => outbox.wake(message.sender))
  }

  once(id: string, work: () => unknown): Promise<boolean> {
    const { kind, host } = this.transaction
    const { inbox } = host
    // Of the tenant for which it is done: one transaction may do work for several.
    const place = nameInTenant(kind.scope)
    if (inbox === undefined) throw InboxError(id, 'needs the option inbox: plugins: { database: { inbox: true } }')
    return this.nested(async () => {
      const note = (connection: Connection, text: string) => connection.query(text, [place, id])
      const { count } = await this.transaction.run(inbox.note, note)
      if (count !== 1) return false
      await work()
      return true
    })
  }

  /** Does work in a savepoint: its failure takes back only what it has done itself. One after the other, as savepoints are a stack. */
  nested<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#outcome === 'released') return this.#parent!.nested(work)
    return this.#inTurn(() => new Level(this.transaction, this).#inSavepoint(work))
  }

  async #inSavepoint<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const { transaction } = this
    await transaction.run('begin', query, true)
    try {
      const result = await transactions.run(this, async () => work())
      await transaction.run('commit', query, true)
      this.#outcome = 'released'
      for (const one of this.deferred) this.#parent!.afterCommit(one)
      return result
    } catch (error) {
      this.#outcome = 'rolledBack'
      await transaction.run('rollback', query, true).catch(() => {})
      throw error
    }
  }
}

/** Does all of it, in order; then throws the first failure. */
async function doAll(works: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) await (async () => work())().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
