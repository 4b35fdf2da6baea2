import { expect, test } from 'vitest'
import { PgbossOperations } from '../../../plugins/shared/engines/pgboss-operations.ts'

/** A database in which the queue "orders" is paused; the first readings fail. */
function database(failures = 0) {
  let left = failures
  return new PgbossOperations(async (text) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (left-- > 0) throw new Error('no connection')
    return { rows: [text.includes('to_regclass') ? { is_there: true } : { name: 'orders' }] }
  }, 'pgboss')
}

test('a worker that asks while another one is reading which queues are paused awaits the result', async () => {
  const operations = database()
  expect(await Promise.all(['other', 'orders'].map((name) => operations.isPausedNow(name)))).toEqual([false, true])
})

test('a reading that has failed is not taken for one without paused queues', async () => {
  const operations = database(1)
  await expect(operations.isPausedNow('orders')).rejects.toThrow('no connection')
  expect(await operations.isPausedNow('orders')).toBe(true)
})
