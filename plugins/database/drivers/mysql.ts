import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2'
import { systemClock } from '../../../kernel/index.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { DatabaseBusyError, isConflict, PlaceholdersError } from '../errors.ts'
import { type DriverHost, numberedBy, overlaid } from '../queries.ts'
import type {
  ClientConnection,
  Connection,
  DriverSettings,
  OpenDriver,
  QueryResult,
  StatementRunner,
} from './contract.ts'

type Callback = (error: Error | null, result?: unknown, fields?: unknown) => void
type Query = (...args: unknown[]) => unknown
type Verb = 'query' | 'execute'
type Config = { readonly sql: string; readonly values?: unknown }
/** What a callback of the package receives. */
type Outcome = { readonly result: unknown; readonly fields?: unknown; readonly count: number }

/** What the server has said of its state after the last statement of a connection that returned no rows. */
const states = new WeakMap<PoolConnection, number>()

const promised = (client: PoolConnection, run: unknown, config: Config) =>
  new Promise<Outcome>((resolve, reject) => {
    const done: Callback = (error, result, fields) => {
      // The package adds the statement with its values: what clients have sent does not belong in the log.
      if (error) return reject(Object.assign(error, { sql: config.sql }))
      const last: unknown = Array.isArray(fields) && fields.at(-1) === undefined ? (result as unknown[]).at(-1) : result
      if (!Array.isArray(last)) states.set(client, (last as ResultSetHeader).serverStatus)
      const count = Array.isArray(result) ? result.length : (result as ResultSetHeader).affectedRows
      resolve({ result, fields, count })
    }
    ;(run as Query).call(client, config, done)
  })

/** Gives calls of `query` and `execute` to `run`. Those without a callback return a stream, and stay with the package, as do those that `run` leaves. */
function intercepted(
  target: Pool | PoolConnection,
  run: (config: Config, verb: Verb, plain: Query) => Promise<Outcome> | undefined,
) {
  const ofVerb = (verb: Verb) => {
    const plain = target[verb] as Query
    return function query(this: object, ...args: unknown[]) {
      const [text, values] = args
      const callback = args.at(-1) as Callback
      const config = typeof text === 'string' ? { sql: text } : (text as Config)
      const given = values === callback ? config : { ...config, values: values ?? config.values }
      const outcome = typeof callback === 'function' ? run({ values: [], ...given }, verb, plain) : undefined
      if (outcome === undefined) return plain.apply(this, args)
      return void outcome.then(({ result, fields }) => callback(null, result, fields), callback)
    }
  }
  return { query: ofVerb('query'), execute: ofVerb('execute') }
}

// With `\'`, which other databases do not have, and `#`.
const quoted = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--(?=\s).*|#.*|\/\*[\s\S]*?\*\//g
const withMarks = numberedBy(quoted)

/** A statement as the package takes it: `$1`, as in Postgres, becomes `?`. */
function preparedOf(text: string, given: readonly unknown[]): Config {
  const numbered: unknown[] = []
  const sql = withMarks(text, (number) => {
    numbered.push(given[number - 1])
    return '?'
  })
  const values = numbered.length > 0 ? numbered : [...given]
  const marks = sql.replace(quoted, '').split('?').length - 1
  // The package would send them all, and the server read other values than those that were given.
  if (marks !== values.length) throw PlaceholdersError(text.trim().slice(0, 100), marks, values.length)
  return { sql, values }
}

/** Settings of a connection; the comments are for MariaDB and for MySQL. */
const limited = (ms: number) =>
  `set session /*M! max_statement_time = ${ms / 1_000}, idle_transaction_timeout = ${Math.ceil(ms / 1_000)}, */ /*!80000 max_execution_time = ${ms}, */`

/** Takes connections; each runs `session` first, and reports its statements. */
function takerOf(pool: Pool, reports: DriverHost['reports'], session: string) {
  const prepared = new WeakSet<PoolConnection>()
  const prepare = async (client: PoolConnection) => {
    // Without a listener, the loss of a connection would end the process, idle or taken; the next query reports the loss.
    client.on('error', () => {})
    await promised(client, client.query, { sql: session })
    const report = (config: Config, _: Verb, plain: Query) =>
      reports.run(config.sql, [config.values].flat(), () => promised(client, plain, config))
    Object.assign(
      client,
      // A query with values also when nothing looks at it, for its errors.
      intercepted(client, (...args) => (reports.areSeen || args[1] === 'query' ? report(...args) : undefined)),
    )
    prepared.add(client)
  }
  return async () => {
    const client = await new Promise<PoolConnection>((resolve, reject) =>
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
    )
    if (!prepared.has(client))
      await prepare(client).catch((error: unknown) => {
        client.destroy()
        throw error
      })
    return client
  }
}

/** The client of a transaction: its queries take their turn, and giving it back does nothing. */
const inTransaction = (running: StatementRunner, client: PoolConnection) =>
  overlaid(client, {
    ...intercepted(client, (config, _, plain) =>
      running.run(config.sql, (_connection, sql) => promised(client, plain, { ...config, sql })),
    ),
    release: () => {},
  })

async function execute(client: PoolConnection, text: string, values: readonly unknown[]) {
  if (values.length === 0) return resultOf(await promised(client, client.query, { sql: text }))
  return resultOf(await promised(client, client.execute, preparedOf(text, values)))
}

type OnClient = ClientConnection<PoolConnection>

/** Opens a pool of `mysql2` whose queries are reported and, in code of a transaction, belong to it, also those of query builders. */
export async function openMysql(settings: DriverSettings, host: DriverHost): Promise<OpenDriver> {
  const { default: mysql } = await peer('mysql2', () => import('mysql2'), 'the plugin database (driver mysql2)')
  const { statementTimeout: limit, url: uri } = settings
  const { max, acquireTimeout: connectTimeout, idleTimeout } = settings.pool
  const own = { uri, connectionLimit: max, connectTimeout, idleTimeout }
  // It closes idle connections only below its maximum, and the server has room for 16382 prepared statements of all its connections.
  const few = { maxIdle: Math.max(1, max - 1), maxPreparedStatements: 200 }
  const pool = mysql.createPool({ ...own, ...few, ...settings.options })
  // A wait for a lock ends before the statement, as what can be repeated.
  const wait = limit === false ? '' : `innodb_lock_wait_timeout = ${Math.max(1, Math.floor(limit / 2_000))},`
  // Where the server is not strict, it cuts what is too long: of two names, one becomes the other. And the package escapes by backslashes.
  const session = `${limited(Number(limit))} ${wait} sql_mode = concat(replace(@@sql_mode, 'NO_BACKSLASH_ESCAPES', ''), ',strict_trans_tables')`
  const take = takerOf(pool, host.reports, session)
  const once = async <Result>(work: (client: PoolConnection) => Promise<Result>) => {
    // Not of the package, which would wait without a limit.
    const connection = (await host.acquire()) as OnClient
    return work(connection.client).finally(() => connection.release())
  }
  const queries = intercepted(pool, (config, verb) => {
    const on = (client: PoolConnection, sql: string) => promised(client, client[verb], { ...config, sql })
    const running = host.running()
    if (running === undefined) return once((client) => on(client, config.sql))
    return running.run(config.sql, (connection, sql) => on((connection as OnClient).client, sql))
  })
  const getConnection = (callback: Callback) => {
    const running = host.running()
    const own = async () => inTransaction(running!, ((await running!.ready()) as OnClient).client)
    const taken = running === undefined ? host.acquire().then((one) => (one as OnClient).client) : own()
    taken.then((client) => callback(null, client), callback)
  }
  return {
    // Not the pool itself, which takes connections for callers that wait, in code of the one that has closed another.
    pool: overlaid(pool, { ...queries, getConnection }),
    query: (text, values) => once((client) => execute(client, text, values)),
    async connect(): Promise<OnClient> {
      const client = await take().catch((cause: Error & { code?: string }) => {
        if (cause.code !== 'ETIMEDOUT') throw cause
        throw Object.assign(DatabaseBusyError(host.name, settings.pool, countsOf(pool)), { cause })
      })
      // SERVER_STATUS_AUTOCOMMIT: a procedure has turned it off, and nothing that the next caller does would be committed.
      const isOff = () => (states.get(client)! & 2) === 0
      const release = (isBroken?: boolean) => (isBroken || isOff() ? client.destroy() : client.release())
      // SERVER_STATUS_IN_TRANS.
      const isInTransaction = () => (states.get(client)! & 1) === 1
      const query: Connection['query'] = (text, values) => execute(client, text, values)
      return { client, query, isInTransaction, hasRolledBack: isConflict, release }
    },
    counts: () => countsOf(pool),
    begin: ({ isolation, readOnly }) => [
      ...(isolation === undefined ? [] : [`set transaction isolation level ${isolation}`]),
      `start transaction${readOnly ? ' read only' : ''}`,
    ],
    alone: [
      // A migration that waits for a table blocks every request that comes after it.
      `${limited(0)} lock_wait_timeout = 10`,
      "select get_lock(sha1(concat('framework migrate ', database())), 1000000000)",
    ],
    async close(signal) {
      // The package would end connections in use as well.
      for (let at = countsOf(pool); at.size > at.idle && !signal.aborted; at = countsOf(pool))
        await systemClock.sleep(20)
      await new Promise<void>((resolve) => pool.end(() => resolve()))
    },
  }
}

/** Its queues, which it has no other way to count. */
function countsOf(pool: Pool) {
  const queues = pool as unknown as Record<'_allConnections' | '_freeConnections' | '_connectionQueue', unknown[]>
  const [size, idle] = [queues._allConnections.length, queues._freeConnections.length]
  return { size, idle, waiting: queues._connectionQueue.length }
}

/** The result of a statement; of several, as a procedure has them, the last rows. */
function resultOf({ result, fields }: Outcome): QueryResult<never> {
  const isSeveral = Array.isArray(fields) && fields.some((one) => one === undefined || Array.isArray(one))
  const one = isSeveral ? (result as unknown[]).findLast(Array.isArray) : result
  if (Array.isArray(one)) return { rows: one as never[], count: one.length }
  const { affectedRows: count = 0, insertId } = Object(one) as Partial<ResultSetHeader>
  return { rows: [], count, ...(insertId && { insertId }) }
}
