import assert from 'node:assert/strict'
import { type Queue, RouteCollection, Server } from 'framework'
import { memoryLogger } from '../support/kernel.ts'
import { until } from '../support/queues.ts'
import { assertSubset, type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'
import { configOf, type EngineSource } from './queue-engine.ts'

/** The part of a client of `pg` that is used here. */
export interface TransactionClient {
  /** Runs one statement. */
  query(text: string): Promise<unknown>
  /** Gives the client back to its pool. */
  release(): void
}

/** The part of a pool of `pg` that is used here. */
export interface TransactionPool {
  /** Returns a client of its own. */
  connect(): Promise<TransactionClient>
}

/** The payload of the messages in the tests. */
export interface TransactionPayload {
  /** The number of the message. */
  readonly n: number
}

/** An engine in Postgres, and a pool of the same Postgres. */
export interface QueueTransactionOptions extends ContractOptions {
  /** The kind that the configuration configures, such as `'pgboss'`. Left out for an engine of the application. */
  readonly kind?: string
  /** Returns a queue of the engine; its `publish` takes a `client` that has begun a transaction. */
  queue(name: string): Queue<TransactionPayload, { client?: unknown }>
  /** A pool of the same database. It stays open. */
  pool(): TransactionPool
}

/**
 * Tests an engine that publishes in a transaction of the caller; beside `testQueueEngine`.
 *
 * @example
 * testQueueTransaction(() => ({ pgboss: { connectionString } }), { test, kind: 'pgboss', queue: pgbossQueue, pool: () => pool })
 */
export function testQueueTransaction(make: Make<EngineSource>, options: QueueTransactionOptions): void {
  const { kind = 'own', queue } = options
  const open = async () => {
    const server = new Server({
      ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger: memoryLogger() },
      router: new RouteCollection(),
      background: { queues: { config: await configOf(make, kind), run: true } },
    })
    await server.listen()
    const orders = queue(uniqueName('transaction')).for(server)
    const seen: number[] = []
    await orders.subscribe(({ n }) => void seen.push(n))
    const pool = options.pool()
    const client = await pool.connect()
    const close = () => {
      client.release()
      return server.close()
    }
    return { orders, seen, pool, client, close }
  }
  const contract = contractOf('transactions of queues', open, options)

  contract('when it commits, its messages are there, and not before', async ({ orders, seen, client }) => {
    await client.query('begin')
    const ids = await orders.publishMany([{ n: 1 }, { n: 2 }], { client })
    assert.deepEqual(
      ids.map(({ id }) => typeof id),
      ['string', 'string'],
    )
    assertSubset(await orders.counts(), { waiting: 0, active: 0 })
    await client.query('commit')
    await until(() => seen.length === 2, 'both messages')
    assert.deepEqual(seen.sort(), [1, 2])
  })

  contract('when it rolls back, its messages never were', async ({ orders, seen, client }) => {
    await client.query('begin')
    await orders.publish({ n: 1 }, { client })
    await client.query('rollback')
    await orders.publish({ n: 2 })
    await until(() => seen.length === 1, 'the message outside of it')
    // The engine notes the end of an attempt after its handler.
    await until(async () => (await orders.counts()).active === 0, 'its end')
    assert.deepEqual(seen, [2])
    assertSubset(await orders.counts(), { waiting: 0, active: 0 })
  })

  contract('when it has failed, the error is that of the database', async ({ orders, client }) => {
    await client.query('begin')
    await client.query('select 1 / 0').catch(() => {})
    await assert.rejects(orders.publish({ n: 1 }, { client }), /current transaction is aborted/)
    await client.query('rollback')
  })

  contract('a pool, or an object without queries, is not a client', async ({ orders, pool }) => {
    const expected = /publish\.client.* a client with query\(text, values\) that has begun a transaction/
    for (const client of [pool, {}, null, 'postgres://127.0.0.1'])
      await assert.rejects(orders.publish({ n: 1 }, { client }), { code: 'OptionError', message: expected })
  })
}
