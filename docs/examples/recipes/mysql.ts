import { definePlugin, HttpError, option, RouteCollection, Server } from 'framework'
import { createPool, type Pool, type PoolConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'

declare module 'framework' {
  interface Services {
    mysql: Pool
  }
}

/** A pool of MySQL. The plugin `database` is for Postgres and SQLite; this is what another database needs at least. */
export const mysql = definePlugin({
  name: 'mysql',
  options: option.shape({ url: option.text().secret().required(), connections: option.int({ min: 1 }).default(10) }),
  provide: ({ url, connections }) => ({
    // Of a flood of requests, no more than these wait for a connection: the pool has no time limit for it.
    mysql: createPool({ uri: url, connectionLimit: connections, queueLimit: 100, connectTimeout: 5000 }),
  }),
  async setup(_ctx, _settings, { mysql }) {
    // A wrong password fails the boot, and not the first request.
    await mysql.query('select 1')
  },
  // After the last request, job and message.
  close: ({ mysql }) => mysql.end(),
  health: { mysql: (services) => services.get('mysql').query('select 1') },
})

/** `ER_LOCK_DEADLOCK` and `ER_LOCK_WAIT_TIMEOUT`: another transaction was in the way, and the work may succeed when it is repeated. */
const isConflict = (error: unknown) => [1213, 1205].includes((error as { errno?: number } | undefined)?.errno ?? 0)

/** Does the work in one transaction, and again, up to three times, if another one was in its way. */
export async function transaction<Result>(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<Result>,
  retries = 3,
): Promise<Result> {
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    const result = await work(connection)
    await connection.commit()
    connection.release()
    return result
  } catch (error) {
    // A connection that cannot roll back is closed: the next caller must not find itself in this transaction.
    await connection.rollback().then(
      () => connection.release(),
      () => connection.destroy(),
    )
    if (retries === 0 || !isConflict(error)) throw error
    return transaction(pool, work, retries - 1)
  }
}

const routes = new RouteCollection()
routes.get('/books/:id', async (req) => {
  const pool = req.server.services.get('mysql')
  // `execute` sends values apart from the statement; `query` writes them into it, and an object becomes SQL.
  const [rows] = await pool.execute<RowDataPacket[]>('select id, title from books where id = ?', [req.params.id])
  if (rows[0] === undefined) throw new HttpError(404)
  return rows[0]
})
routes.post('/books/:id/orders', (req) =>
  transaction(req.server.services.get('mysql'), async (connection) => {
    const [taken] = await connection.execute<ResultSetHeader>(
      'update books set copies = copies - 1 where id = ? and copies > 0',
      [req.params.id],
    )
    if (taken.affectedRows === 0) throw new HttpError(409, { code: 'SoldOutError' })
    const [order] = await connection.execute<ResultSetHeader>('insert into orders (book) values (?)', [req.params.id])
    return { order: order.insertId }
  }),
)

export const makeServer = (url: string) =>
  new Server({ router: routes, plugins: { health: true, mysql: mysql({ url }) } })
