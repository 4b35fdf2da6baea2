import { definePlugin, once, queue, RouteCollection, Server, sqlMigrations } from 'framework'
import { z } from 'zod'

const Event = z.object({ type: z.string(), data: z.object({ object: z.object({ id: z.string() }) }) })
const payments = queue<{ event: string; invoice: string }>('recipe-payments', { attempts: 10, backoff: 1000 })

const migrations = sqlMigrations({ '001-paid': 'create table paid (invoice text primary key)' })

const bookkeeping = definePlugin({
  name: 'bookkeeping',
  dependencies: ['queues', 'database'],
  async setup(ctx) {
    const database = ctx.services.get('database')
    await payments.subscribe(
      async ({ event, invoice }) => {
        // The sender repeats an event that got no response in time: what it changes is changed once.
        await once(event, () => database.query('insert into paid values ($1)', [invoice]))
      },
      { transaction: true },
    )
  },
})

export function makeServer(secret: string) {
  const routes = new RouteCollection()
  // The signature is checked before anything else; `publish` is quick, and the sender waits for no more than that.
  routes.post('/hooks/stripe', { webhook: { scheme: 'stripe', secret }, body: Event }, async (req, res) => {
    const { type, data } = req.body
    if (type === 'invoice.paid') await payments.publish({ event: req.webhook.id, invoice: data.object.id })
    return res.noContent()
  })

  return new Server({
    router: routes,
    plugins: {
      webhooks: true,
      queues: { run: true },
      database: { migrations, inbox: true },
      bookkeeping: bookkeeping(),
    },
  })
}
