import { HttpError, RouteCollection, Server, sqlMigrations } from 'framework'
import { bearer } from 'framework/plugins/auth'
import { z } from 'zod'

const migrations = sqlMigrations({
  '001-stock': 'create table stock (book text primary key, copies integer not null check (copies >= 0))',
  '002-orders': 'create table orders (id integer primary key, buyer text not null, book text not null, payment text)',
  '003-one-copy': "insert into stock values ('Kindred', 2)",
})

/** The payment service, which has idempotency keys of its own. */
export type Pay = (given: { amount: number; key: string }) => Promise<{ id: string }>

export function makeServer(pay: Pay) {
  const token = bearer((given) => (given.startsWith('token-of-') ? { id: given.slice(9) } : undefined))
  const routes = new RouteCollection()
  const once = { idempotency: { required: true }, transaction: true, auth: 'required' } as const

  routes.post('/orders', { ...once, body: z.object({ book: z.string() }) }, async (req, res) => {
    const { book } = req.body
    const { count } = await req.database.query('update stock set copies = copies - 1 where book = $1 and copies > 0', [
      book,
    ])
    if (count === 0) throw new HttpError(409, { code: 'SoldOutError' })
    // The payment is outside of the transaction: if the process dies after it, the next attempt pays with the same key.
    const payment = await pay({ amount: 1500, key: `${req.user.id} ${req.headers['idempotency-key']}` })
    const { rows } = await req.database.query<{ id: number }>(
      'insert into orders (buyer, book, payment) values ($1, $2, $3) returning id',
      [req.user.id, book, payment.id],
    )
    return res.created({ order: rows[0]!.id })
  })

  return new Server({
    router: routes,
    plugins: {
      auth: { schemes: { token } },
      database: { migrations },
      // The response is written in the transaction of the order: both are stored, or neither is.
      idempotency: { store: 'database' },
    },
  })
}
