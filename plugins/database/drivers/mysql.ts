import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2'
import { peer } from '../../shared/environment/optional-package.ts'
import type { DriverHost } from '../queries.ts'
import {
  type Connection,
  type DriverSettings,
  numberedBy,
  type OpenDriver,
  type QueryResult,
  type StatementRunner,
} from './contract.ts'

type Callback = (error: Error | null, result?: unknown, fields?: unknown) => void
type Query = (...args: unknown[]) => unknown
type Verb = 'query' | 'execute'

/** What a callback of the package receives. */
interface Outcome {
  readonly result: unknown
  readonly fields: unknown
  readonly count: number
}

/** A connection that knows its client. */
interface MysqlConnection extends Connection {
  readonly client: PoolConnection
}

/** The parts of the arguments of `query` and `execute`; `undefined` without a callback: then they return a stream, which runs itself. */
function partsOf(args: readonly unknown[]) {
  const callback = args.at(-1)
  if (typeof callback !== 'function') return undefined
  const [query, given] = args
  const config = typeof query === 'string' ? { sql: query } : { ...(query as { sql: string; values?: unknown }) }
  const values = (given === callback ? (config as { values?: unknown }).values : given) ?? []
  return { config: { ...config, values }, callback: callback as Callback }
}

type Config = NonNullable<ReturnType<typeof partsOf>>['config']

/** Gives what calls `query` and `execute` of one object to `run`; those for which it returns `undefined` stay with the package. */
function intercepted(
  target: Pool | PoolConnection,
  run: (config: Config, verb: Verb, plain: Query) => Promise<Outcome> | undefined,
): Record<Verb, Query> {
  const ofVerb = (verb: Verb) => {
    const plain = target[verb] as Query
    return function query(this: object, ...args: unknown[]) {
      const parts = partsOf(args)
      const outcome = parts && run(parts.config, verb, plain)
      if (outcome === undefined) return plain.apply(this, args)
      return void outcome.then(({ result, fields }) => parts!.callback(null, result, fields), parts!.callback)
    }
  }
  return { query: ofVerb('query'), execute: ofVerb('execute') }
}

const promised = (client: PoolConnection, run: unknown, config: object) =>
  new Promise<Outcome>((resolve, reject) => {
    const done: Callback = (error, result, fields) => {
      if (error) return reject(error)
      resolve({
        result,
        fields,
        count: Array.isArray(result) ? result.length : (result as ResultSetHeader).affectedRows,
      })
    }
    ;(run as Query).call(client, config, done)
  })

// With `\'`, which other databases do not have, and `#`.
const withMarks = numberedBy(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--\s.*|#.*|\/\*[\s\S]*?\*\//)

/** A statement as the package takes it: `$1`, as in Postgres, becomes `?`. */
function preparedOf(sql: string, values: readonly unknown[]) {
  const used: unknown[] = []
  const marked = withMarks(sql, (number) => {
    used.push(values[number - 1])
    return '?'
  })
  return { sql: marked, values: used.length > 0 ? used : [...values] }
}

const limited = (ms: number | false) =>
  `/*M! max_statement_time = ${Number(ms) / 1_000}, idle_transaction_timeout = ${Math.ceil(Number(ms) / 1_000)}, */ /*!80000 max_execution_time = ${Number(ms)}, */`

/** Opens a pool of `mysql2` whose queries are reported and, in code of a transaction, belong to it, also those of query builders. */
export async function openMysql(settings: DriverSettings, host: DriverHost): Promise<OpenDriver> {
  const { default: mysql } = await peer('mysql2', () => import('mysql2'), 'the plugin database (driver mysql2)')
  const { statementTimeout, url } = settings
  const { max, acquireTimeout, idleTimeout } = settings.pool
  const pool = mysql.createPool({
    uri: url,
    connectionLimit: max,
    connectTimeout: acquireTimeout,
    // It closes idle connections only below its maximum.
    ...{ maxIdle: Math.max(1, max - 1), idleTimeout },
    // The server has room for 16382 of all its connections.
    maxPreparedStatements: 200,
    ...settings.options,
  })
  const { reports } = host
  // Where the server is not strict, it cuts what is too long: of two names, one becomes the other. The comments are for MariaDB and for MySQL.
  // A wait for a lock ends before the statement, as what can be repeated.
  const seconds = Math.max(1, Math.floor(Number(statementTimeout) / 2_000))
  const wait = statementTimeout === false ? '' : `innodb_lock_wait_timeout = ${seconds}, `
  const session = `set session ${limited(statementTimeout)} ${wait}sql_mode = concat(@@sql_mode, ',strict_trans_tables')`
  const begun = new WeakMap<PoolConnection, Promise<unknown>>()
  pool.on('connection', (connection: PoolConnection) => {
    // Without a listener, the loss of a connection would end the process, idle or taken; the next query reports the loss.
    connection.on('error', () => {})
    const set = promised(connection, connection.query, { sql: session })
    set.catch(() => {})
    begun.set(connection, set)
    const seen = intercepted(connection, (config, _, plain) =>
      reports.areSeen
        ? reports.run(config.sql, [config.values].flat(), () => promised(connection, plain, config))
        : undefined,
    )
    Object.assign(connection, seen)
  })
  const take = async () => {
    const client = await new Promise<PoolConnection>((resolve, reject) =>
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
    )
    // No statement without the limits.
    await begun.get(client)!.catch((error: unknown) => {
      client.destroy()
      throw error
    })
    return client
  }
  const once = async <Result>(work: (client: PoolConnection) => Promise<Result>) => {
    const client = await take()
    return work(client).finally(() => client.release())
  }
  const clientOf = async (running: StatementRunner) =>
    inTransaction(running, ((await running.ready()) as MysqlConnection).client)
  const getConnection = (callback: Callback) => {
    const running = host.running()
    const taken = running === undefined ? take() : clientOf(running)
    taken.then((client) => callback(null, client), callback)
  }
  const queries = intercepted(pool, (config, verb) => {
    const on = (client: PoolConnection, sql: string) => promised(client, client[verb], { ...config, sql })
    const running = host.running()
    return running === undefined
      ? once((client) => on(client, config.sql))
      : running.run(config.sql, (connection, sql) => on((connection as MysqlConnection).client, sql))
  })
  const execute = async (client: PoolConnection, text: string, values: readonly unknown[]) =>
    resultOf(
      await (values.length === 0
        ? promised(client, client.query, { sql: text })
        : promised(client, client.execute, preparedOf(text, values))),
    )
  return {
    // Not the pool itself, which takes connections for callers that wait, in code of whoever has closed one.
    pool: overlaid(pool, { ...queries, getConnection }),
    query(text, values) {
      const { size, idle } = countsOf(pool)
      // It would wait without a limit.
      if (size >= max && idle === 0) return undefined
      return once((client) => execute(client, text, values))
    },
    async connect(): Promise<MysqlConnection> {
      const client = await take()
      return {
        client,
        query: (text, values) => execute(client, text, values),
        release: (isBroken) => (isBroken ? client.destroy() : client.release()),
      }
    },
    counts: () => countsOf(pool),
    begin: ({ isolation, readOnly }) => [
      ...(isolation === undefined ? [] : [`set transaction isolation level ${isolation}`]),
      `start transaction${readOnly ? ' read only' : ''}`,
    ],
    alone: [
      // A migration that waits for a table blocks every request that comes after it.
      `set session ${limited(false)} lock_wait_timeout = 10`,
      "select get_lock(sha1(concat('framework migrate ', database())), 1000000000)",
    ],
    close: () => new Promise((resolve) => pool.end(() => resolve())),
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
  const all = result as unknown[]
  const one = isSeveral ? (all.findLast(Array.isArray) ?? all.at(-1)) : result
  if (Array.isArray(one)) return { rows: one as never[], count: one.length }
  const { affectedRows, insertId } = one as ResultSetHeader
  return { rows: [], count: affectedRows, ...(insertId && { insertId }) }
}

/** The client of a transaction: its queries take their turn, and giving it back does nothing. */
function inTransaction(running: StatementRunner, client: PoolConnection): PoolConnection {
  const queries = intercepted(client, (config, _, plain) =>
    running.run(config.sql, (_connection, sql) => promised(client, plain, { ...config, sql })),
  )
  return overlaid(client, { ...queries, release: () => {} })
}

/** An object with some other methods, which its own methods use as well: `commit` of a connection is a query. */
const overlaid = <Target extends object>(target: Target, own: Record<PropertyKey, unknown>) =>
  new Proxy(target, {
    get(target, name, proxy) {
      const value: unknown = Reflect.get(target, name)
      return own[name] ?? (typeof value === 'function' ? value.bind(proxy) : value)
    },
  })
