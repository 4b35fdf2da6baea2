import { definePlugin, queue } from 'framework'
import { Receipt } from '../schemas.ts'

/** In memory, unless `QUEUE_ENGINE` names an engine. */
export const receiptQueue = queue('receipts', { schema: Receipt, attempts: 3, backoff: 1000 })

/** Emails a receipt for every loan, after the response; an email that fails is tried three times. */
export const receipts = definePlugin({
  name: 'receipts',
  dependencies: ['mailer', 'queues'],
  async setup(ctx) {
    const mailer = ctx.services.get('mailer')
    const handle = await receiptQueue.subscribe(async (receipt) => {
      await mailer.send((mail) =>
        mail
          .to(receipt.email ?? 'desk@example.org')
          .subject('Lent: {{title}}')
          .template('<p>{{title}}, {{at}}</p>', receipt),
      )
      ctx.log.info(`receipt: "${receipt.title}", ${receipt.at}`)
    })
    ctx.onClose(() => handle.unsubscribe())
  },
})
