import { definePlugin, HttpError, option, RouteCollection, Server } from 'framework'
import { createPool, type Pool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'

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
    // Every wait has a limit, and of a flood of requests no more than these wait.
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

/** Does the work in one transaction. */
export async function transaction<Result>(
  pool: Pool,
  work: (connection: Awaited<ReturnType<Pool['getConnection']>>) => Promise<Result>,
) {
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    const result = await work(connection)
    await connection.commit()
    return result
  } catch (error) {
    await connection.rollback()
    throw error
  } finally {
    connection.release()
  }
}

const routes = new RouteCollection()
routes.get('/books/:id', async (req) => {
  const pool = req.server.services.get('mysql')
  const [rows] = await pool.query<RowDataPacket[]>('select id, title from books where id = ?', [req.params.id])
  if (rows[0] === undefined) throw new HttpError(404)
  return rows[0]
})
routes.post('/books/:id/orders', (req) =>
  transaction(req.server.services.get('mysql'), async (connection) => {
    const [taken] = await connection.query<ResultSetHeader>(
      'update books set copies = copies - 1 where id = ? and copies > 0',
      [req.params.id],
    )
    if (taken.affectedRows === 0) throw new HttpError(409, { code: 'SoldOutError' })
    const [order] = await connection.query<ResultSetHeader>('insert into orders (book) values (?)', [req.params.id])
    return { order: order.insertId }
  }),
)

export const makeServer = (url: string) =>
  new Server({ router: routes, plugins: { health: true, mysql: mysql({ url }) } })
