import { randomBytes } from 'node:crypto'
import { queue, RouteCollection, Server, sqlMigrations, type WebhookDelivery } from 'framework'
import { z } from 'zod'

const migrations = sqlMigrations({
  '001-orders': 'create table orders (id integer primary key, paid integer not null)',
  '002-first': 'insert into orders values (7, 0)',
  '003-endpoints': `create table endpoints (
    name text primary key, url text not null, secret text not null, failing_since text, disabled integer not null default 0)`,
})

interface Row {
  readonly url: string
  readonly secret: string
  readonly failing_since: string | null
  readonly disabled: number
}

const deliveries = queue<WebhookDelivery>('recipe-webhooks')

/** In a test, `allow` has addresses that are reached although they are not public. */
export function makeServer(url?: string, allow: string[] = []): Server {
  const routes = new RouteCollection()

  routes.post('/endpoints', { body: z.object({ name: z.string(), url: z.url() }) }, async (req, res) => {
    const { name, url } = req.body
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    await database().query('insert into endpoints (name, url, secret) values ($1, $2, $3)', [name, url, secret])
    // The only response with the secret: the customer keeps it.
    return res.created({ name, secret })
  })
  routes.post('/orders/:id/pay', { transaction: true }, async (req, res) => {
    await req.database.query('update orders set paid = 1 where id = $1', [req.params.id])
    const { rows } = await req.database.query<{ name: string }>('select name from endpoints where disabled = 0')
    const event = { type: 'order.paid', data: { order: req.params.id } }
    for (const { name } of rows) await server.services.get('webhooks').deliver(name, event)
    return res.noContent()
  })

  const database = () => server.services.get('database')
  const server: Server = new Server({
    router: routes,
    plugins: {
      queues: { run: true },
      // The events are committed with the rows that they report.
      database: { url, migrations, outbox: true },
      webhooks: {
        outgoing: {
          queue: deliveries,
          allow,
          async find(name) {
            const { rows } = await database().query<Row>('select * from endpoints where name = $1', [name])
            const [row] = rows
            return (
              row && {
                url: row.url,
                secret: row.secret,
                isDisabled: row.disabled === 1,
                ...(row.failing_since !== null && { failingSince: new Date(row.failing_since) }),
              }
            )
          },
          async update(name, { failingSince, isDisabled }) {
            await database().query('update endpoints set failing_since = $2, disabled = $3 where name = $1', [
              name,
              failingSince?.toISOString() ?? null,
              isDisabled ? 1 : 0,
            ])
          },
        },
      },
    },
  })
  return server
}
