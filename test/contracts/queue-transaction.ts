import { type PgbossPublishOptions, pgbossQueue } from 'framework'
import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshName, until } from '../support/queues.ts'

/** What `publish` with a client of `pg` must do, in every version of pg-boss; beside `testEngine`, which runs the queues. */
export function testTransactions(urlOf: () => string): void {
  let pool: Pool
  let client: PoolClient
  beforeAll(async () => {
    pool = new Pool({ connectionString: urlOf() })
    client = await pool.connect()
  })
  afterAll(async () => {
    client.release()
    await pool.end()
  })

  const receiver = async () => {
    const queue = pgbossQueue<{ n: number }>(freshName('transaction'))
    const seen: number[] = []
    await queue.subscribe(({ n }) => void seen.push(n))
    return { queue, seen }
  }

  test('in a transaction: messages are there when it commits, and not before', async () => {
    const { queue, seen } = await receiver()
    await client.query('begin')
    const ids = await queue.publishMany([{ n: 1 }, { n: 2 }], { client })
    expect(ids.map(({ id }) => id)).toEqual([expect.any(String), expect.any(String)])
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 })
    await client.query('commit')
    await until(() => seen.length === 2, 'both messages')
    expect(seen.sort()).toEqual([1, 2])
  })

  test('in a transaction that rolls back: messages never were', async () => {
    const { queue, seen } = await receiver()
    await client.query('begin')
    await queue.publish({ n: 1 }, { client, retryLimit: 5 })
    await client.query('rollback')
    await queue.publish({ n: 2 })
    await until(() => seen.length === 1, 'the message outside of it')
    expect(seen).toEqual([2])
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 })
  })

  test('in a transaction that has failed: the error is that of Postgres', async () => {
    const { queue } = await receiver()
    await client.query('begin')
    await client.query('select 1 / 0').catch(() => {})
    await expect(queue.publish({ n: 1 }, { client })).rejects.toThrow('current transaction is aborted')
    await client.query('rollback')
  })

  test('of a pool, or of an object without queries: refused', async () => {
    const { queue } = await receiver()
    for (const wrong of [pool, {}, null, 'postgres://127.0.0.1'])
      await expect(queue.publish({ n: 1 }, { client: wrong } as PgbossPublishOptions)).rejects.toMatchObject({
        code: 'OptionError',
        message: expect.stringMatching(
          /publish\.client.* a client with query\(text, values\) that has begun a transaction/,
        ),
      })
  })
}
