import { definePlugin, queue, router } from 'framework'
import { policies } from './customers.ts'

const Order = {
  type: 'object',
  properties: { amount: { type: 'number', exclusiveMinimum: 0 }, currency: { type: 'string', pattern: '^[A-Z]{3}$' } },
  required: ['amount', 'currency'],
} as const

/** In memory, unless `QUEUE_ENGINE` names an engine. */
export const receiptQueue = queue<{ to: string; euro: number }>('receipts')

router.post(
  '/orders',
  { body: Order, policy: { manager: policies, scope: 'site', handler: 'signedIn' } },
  async (req, res) => {
    const { amount, currency } = req.body
    const euro = await req.server.services.get('rates').toEuro(amount, currency)
    await receiptQueue.publish({ to: req.customer.mail, euro }, { attempts: 3 })
    return res.created({ euro })
  },
)

/** Emails the receipts. */
export const receipts = definePlugin({
  name: 'receipts',
  dependencies: ['mailer', 'queues'],
  async setup(ctx) {
    const mailer = ctx.services.get('mailer')
    const handle = await receiptQueue.subscribe(async ({ to, euro }) => {
      await mailer.send((mail) => mail.to(to).subject('Your order').text(`${euro} EUR`))
    })
    ctx.onClose(() => handle.unsubscribe())
  },
})
