import { createConnection, type Pool, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariadb, startMariadb } from '../../../test/support/mariadb.ts'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { makeServer, transaction } from './mysql.ts'

test('a database that is away fails the boot', async () => {
  const lost = makeServer('mysql://root@127.0.0.1:9/shop')
  await expect(lost.ready()).rejects.toThrow(/mysql.*ECONNREFUSED/s)
})

describe.skipIf(!hasMariadb)('with a real server', () => {
  let mariadb: OwnServer
  let server: ReturnType<typeof makeServer>
  let pool: Pool
  beforeAll(async () => {
    mariadb = await startMariadb()
    const admin = await createConnection(mariadb.url)
    for (const statement of [
      'create table books (id int primary key, title text not null, copies int not null)',
      'create table orders (id int auto_increment primary key, book int not null, foreign key (book) references books (id))',
      "create user shop identified by 'secret'",
      'grant all on test.* to shop',
    ])
      await admin.query(statement)
    await admin.end()
    server = makeServer(mariadb.url)
    await server.ready()
    pool = server.services.get('mysql')
  }, 60_000)
  afterAll(async () => {
    await server?.close()
    await mariadb?.stop()
  })
  beforeEach(async () => {
    await pool.query('delete from orders')
    await pool.query("replace into books values (1, 'Kindred', 1), (2, 'Emma', 1)")
  })
  const copies = async () => {
    const [rows] = await pool.query<RowDataPacket[]>('select copies from books order by id')
    return rows.map((row) => row.copies as number)
  }

  test('a handler queries the pool, and an order is one transaction', async () => {
    ;(await server.inject.get('/books/1')).assertBodyDeepEqual({ id: 1, title: 'Kindred' })
    ;(await server.inject.get('/books/3')).assertStatus(404)
    const [first, second] = await Promise.all([
      server.inject.post('/books/1/orders'),
      server.inject.post('/books/1/orders'),
    ])
    expect([first.statusCode(), second.statusCode()].sort()).toEqual([200, 409])
    expect(await copies()).toEqual([0, 1])
    expect((await pool.query('select * from orders'))[0]).toHaveLength(1)
  })

  test('a wrong password and an unknown database fail the boot', async () => {
    const { port } = mariadb
    const refused = makeServer(`mysql://shop:wrong@127.0.0.1:${port}/test`)
    await expect(refused.ready()).rejects.toThrow(/mysql.*Access denied for user 'shop'/s)
    const unknown = makeServer(`mysql://root@127.0.0.1:${port}/nowhere`)
    await expect(unknown.ready()).rejects.toThrow(/mysql.*Unknown database 'nowhere'/s)
  })

  test('work that fails is rolled back, and its connection is as new', async () => {
    const failing = transaction(pool, async (connection) => {
      await connection.query('update books set copies = 9')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await expect(transaction(pool, () => Promise.reject(null))).rejects.toBe(null)
    expect(await copies()).toEqual([1, 1])
  })

  test('a deadlock is repeated', async () => {
    let attempts = 0
    let met = 0
    let meet = () => {}
    const both = new Promise<void>((resolve) => (meet = resolve))
    const take = (first: number, second: number) =>
      transaction(pool, async (connection) => {
        attempts++
        await connection.execute('update books set copies = copies + 1 where id = ?', [first])
        if (++met === 2) meet()
        await both
        await connection.execute('update books set copies = copies + 1 where id = ?', [second])
      })
    await Promise.all([take(1, 2), take(2, 1)])
    expect([attempts, await copies()]).toEqual([3, [3, 3]])
  })

  test('a wait for a lock that is too long is repeated as well', async () => {
    const holder = await createConnection(mariadb.url)
    await holder.beginTransaction()
    await holder.query('update books set copies = 5 where id = 1')
    let attempts = 0
    await transaction(pool, async (connection) => {
      // Of an attempt that waits too long, what came before the wait is taken back as well.
      await connection.query('update books set copies = copies + 1 where id = 2')
      await connection.query('set innodb_lock_wait_timeout = 1')
      if (attempts++ > 0) await holder.commit()
      await connection.query('update books set copies = copies + 1 where id = 1')
    })
    await holder.end()
    expect([attempts, await copies()]).toEqual([2, [6, 2]])
  })

  test('a server that dies within a transaction fails it with the reason, and the pool connects again', async () => {
    const lost = transaction(pool, async (connection) => {
      await connection.query('update books set copies = 9')
      await mariadb.kill()
      await connection.query('update books set copies = 9')
    })
    await expect(lost).rejects.toMatchObject({ fatal: true })
    ;(await server.inject.get('/health/ready')).assertStatus(503)
    await mariadb.restart()
    ;(await server.inject.get('/health/ready')).assertBodySubset({ checks: { mysql: 'ok' } })
    expect(await copies()).toEqual([1, 1])
  })

  test('no connection stays taken', async () => {
    const { length: idle } = (pool.pool as never as { _freeConnections: unknown[] })._freeConnections
    const { length: all } = (pool.pool as never as { _allConnections: unknown[] })._allConnections
    expect(idle).toBe(all)
  })
})
