import { definePlugin, type MemoryTransport, MustacheAdapter, queue, RouteCollection, Server } from 'framework'
import { z } from 'zod'

interface Welcome {
  readonly mail: string
  readonly name: string
}
const welcomes = queue<Welcome>('recipe-welcomes', { attempts: 8, backoff: { type: 'exponential', delay: 1000 } })

const welcome = '<p>Hello {{name}},</p><p>your account is ready.</p>'

const emails = definePlugin({
  name: 'emails',
  dependencies: ['mailer', 'queues'],
  async setup(ctx) {
    const mailer = ctx.services.get('mailer')
    await welcomes.subscribe(async ({ mail, name }, { id }) => {
      await mailer.send((email) =>
        email
          .to({ name, address: mail })
          .subject('Welcome, {{name}}')
          .template(welcome, { name })
          // A message can come twice. Many providers drop a second email with the same key.
          .headers({ 'x-idempotency-key': id }),
      )
    })
  },
})

const routes = new RouteCollection()
routes.post('/accounts', { body: z.object({ mail: z.email(), name: z.string().max(80) }) }, async (req, res) => {
  await welcomes.publish(req.body)
  return res.created()
})

export function makeServer(transporter: string | MemoryTransport) {
  const provider = { transporter, templateAdapter: new MustacheAdapter(), from: 'Shop <shop@example.org>' }
  return new Server({
    router: routes,
    plugins: {
      queues: { run: true },
      mailer: { providers: { main: provider }, defaultProvider: 'main' },
      emails: emails(),
    },
  })
}
