import { definePlugin, queue } from 'framework'

interface Receipt {
  readonly title: string
  readonly at: string
}

/** In memory, unless `QUEUE_ENGINE` names an engine. */
export const receiptQueue = queue<Receipt>('receipts', { attempts: 3, backoff: 1000 })

/** Emails a receipt for every loan to the desk, after the response; an email that fails is tried three times. */
export const receipts = definePlugin({
  name: 'receipts',
  dependencies: ['mailer', 'queues'],
  async setup(ctx) {
    const mailer = ctx.services.get('mailer')
    const handle = await receiptQueue.subscribe(async (receipt) => {
      await mailer.send((mail) =>
        mail.to('desk@example.org').subject('Lent: {{title}}').template('<p>{{title}}, {{at}}</p>', receipt),
      )
      ctx.log.info(`receipt: "${receipt.title}", ${receipt.at}`)
    })
    ctx.onClose(() => handle.unsubscribe())
  },
})
