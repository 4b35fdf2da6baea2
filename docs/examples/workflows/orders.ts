import { definePlugin, option, router } from 'framework'
import { defineWorkflowSpec } from 'openworkflow'

export interface Order {
  readonly id: string
  readonly book: string
  readonly email: string
}

export const orderWorkflow = defineWorkflowSpec<Order, { state: 'sent' | 'refused' }>({ name: 'order' })

/** Does the work of orders, in steps that each call another company. */
export const orders = definePlugin({
  name: 'orders',
  dependencies: ['workflows'],
  options: option.shape({ companies: option.name().required().env('COMPANIES_URL') }),
  setup(ctx, { companies }) {
    /** The key is the same in each attempt, so that a company which has done the work already does not do it again. */
    async function ask(path: string, key: string, body: object) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key }
      const res = await fetch(`${companies}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      if (!res.ok && res.status !== 402) throw new Error(`${path} responded with ${res.status}`)
      return { isRefused: res.status === 402 }
    }

    ctx.services.get('workflows').implement(orderWorkflow, async ({ input, step }) => {
      const { id, book, email } = input
      await step.run({ name: 'reserve' }, () => ask('reserve', `${id} reserve`, { book }))
      const charge = await step.run({ name: 'charge' }, () => ask('charge', `${id} charge`, { email }))
      if (charge.isRefused) {
        await step.run({ name: 'release' }, () => ask('release', `${id} release`, { book }))
        return { state: 'refused' }
      }
      await step.run({ name: 'email' }, () => ask('email', `${id} email`, { to: email }))
      return { state: 'sent' }
    })
  },
})

const text = { type: 'string', minLength: 1 } as const
const OrderBody = {
  type: 'object',
  properties: { id: { type: 'string', format: 'uuid' }, book: text, email: text },
  required: ['id', 'book', 'email'],
} as const

router.post('/orders', { body: OrderBody }, async (req, res) => {
  const { client } = req.server.services.get('workflows')
  // The client of the shop has chosen the id: if it repeats a request, it finds the run that exists.
  const { workflowRun } = await client.runWorkflow(orderWorkflow, req.body, { idempotencyKey: req.body.id })
  return res.status(202).send({ run: workflowRun.id })
})

router.get('/runs/:id', async (req, res) => {
  const run = await req.server.services.get('workflows').find(req.params.id)
  return run === null ? res.notFound() : { status: run.status, output: run.output }
})
