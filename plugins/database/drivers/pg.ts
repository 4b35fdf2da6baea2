import type { QueryResult as PgQueryResult, PoolClient } from 'pg'
import { peer } from '../../shared/environment/optional-package.ts'
import { DatabaseBusyError } from '../errors.ts'
import { type DriverHost, overlaid } from '../queries.ts'
import type { ClientConnection, DriverSettings, OpenDriver, QueryResult, StatementRunner } from './contract.ts'
import { limitsOf, postgresBegin } from './contract.ts'

type Callback = (error: Error | undefined, result?: unknown, release?: () => void) => void
type Query = (...args: unknown[]) => unknown
type PgResult = Pick<PgQueryResult, 'rows' | 'rowCount' | 'command'>

/** The parts of the arguments of `client.query`; `undefined` for cursors and the like, which run themselves. */
function partsOf(args: readonly unknown[]) {
  const [query, given] = args
  const callback = typeof args.at(-1) === 'function' ? (args.at(-1) as Callback) : undefined
  if (typeof query !== 'string' && typeof (Object(query) as { submit?: unknown }).submit === 'function')
    return undefined
  const config = typeof query === 'string' ? { text: query } : { ...(query as { text: string; values?: unknown[] }) }
  const values = Array.isArray(given) ? (given as unknown[]) : (config as { values?: unknown[] }).values
  return { config: { ...config, ...(values !== undefined && { values }) }, values: values ?? [], callback }
}

/** Calls back where the caller has given a callback, as the pool of `pg` does itself. */
function settle<Result>(promise: Promise<Result>, callback: Callback | undefined): Promise<Result> | undefined {
  if (callback === undefined) return promise
  promise.then(
    (result) => callback(undefined, result),
    (error: Error) => callback(error),
  )
  return undefined
}

/** Opens a pool of `pg` whose queries are reported and, in code of a transaction, belong to it, also those of query builders. */
export async function openPg(settings: DriverSettings, host: DriverHost): Promise<OpenDriver> {
  const { default: pg } = await peer('pg', () => import('pg'), 'the plugin database (driver pg)')
  const { url } = settings
  const { reports } = host
  class Client extends pg.Client {}
  const plain = pg.Client.prototype.query as Query
  Object.defineProperty(Client.prototype, 'query', {
    value(this: object, ...args: unknown[]) {
      const parts = reports.areSeen ? partsOf(args) : undefined
      if (parts === undefined) return plain.apply(this, args)
      const { config, values, callback } = parts
      return settle(
        reports.run(config.text, values, () => plain.call(this, config) as Promise<PgResult>),
        callback,
      )
    },
  })
  const ofClient = { connectionString: url, connectionTimeoutMillis: settings.pool.acquireTimeout }
  const pool = new pg.Pool({
    ...ofClient,
    max: settings.pool.max,
    idleTimeoutMillis: settings.pool.idleTimeout,
    ...limitsOf(settings),
    ...settings.options,
    Client: Client as typeof pg.Client,
  })
  // Without listeners, the loss of a connection would end the process, idle or taken; the next query reports the loss.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const counts = () => ({ size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount })
  const connect = pool.connect.bind(pool) as (callback?: Callback) => Promise<PoolClient>
  const clientOf = async (running: StatementRunner) =>
    inTransaction(running, ((await running.ready()) as ClientConnection<PoolClient>).client)
  pool.connect = ((callback?: Callback) => {
    const running = host.running()
    if (running === undefined) return connect(callback)
    return settle(clientOf(running), callback && ((error, client) => callback(error, client, () => {})))
  }) as typeof pool.connect
  const busy = (error: Error) => {
    if (!/timeout exceeded|connection timeout/.test(error.message)) throw error
    throw Object.assign(DatabaseBusyError(host.name, settings.pool, counts()), { cause: error })
  }
  return {
    pool,
    query: (text, values) => pool.query(text, [...values]).then(resultOf, busy),
    async connect(): Promise<ClientConnection<PoolClient>> {
      const client = await connect().catch(busy)
      return {
        client,
        query: (text, values) => client.query(text, [...values]).then(resultOf),
        release: (isBroken) => client.release(isBroken),
      }
    },
    async listen(channel, on, until) {
      const client = new pg.Client({ ...ofClient, keepAlive: true, ...settings.options })
      client.on('error', on.lost).on('end', on.lost)
      client.on('notification', ({ payload = '' }) => on.message(payload))
      try {
        await client.connect()
        await client.query(`listen ${channel}`)
        on.open()
        await until
      } finally {
        await client.end()
      }
    },
    counts,
    begin: postgresBegin,
    close: () => pool.end(),
  }
}

/** The result of a text, of its last statement if there are several. */
function resultOf(result: PgResult | readonly PgResult[]): QueryResult<never> {
  const { rows, rowCount, command } = [result].flat().at(-1)!
  return { rows: rows as never[], count: rowCount ?? 0, command }
}

/** The client of a transaction: its queries take their turn, and giving it back does nothing. */
function inTransaction(running: StatementRunner, client: PoolClient): PoolClient {
  const query: Query = (...args) => {
    const parts = partsOf(args)
    if (parts === undefined) return (client.query as Query)(...args)
    const { config, callback } = parts
    const run = (_: unknown, text: string) => (client.query as Query)({ ...config, text }) as Promise<unknown>
    return settle(running.run(config.text, run), callback)
  }
  return overlaid(client, { query, release: () => {} })
}
