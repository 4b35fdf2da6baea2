import { definePlugin, memoryQueue } from 'framework'

interface Receipt {
  readonly title: string
  readonly at: string
}

/** In production `bullmqQueue` or `pgbossQueue`: this line and the configuration are all that differs. */
export const receiptQueue = memoryQueue<Receipt>('receipts')

/** Writes a receipt for every loan, behind the answer; a printer that fails is tried three times. */
export const receipts = definePlugin({
  name: 'receipts',
  dependencies: ['library', 'queues'],
  async setup(ctx) {
    const stop = ctx.services.get('library').listen(({ kind, book }) => {
      if (kind !== 'lent') return
      receiptQueue
        .publish({ title: book.title, at: new Date().toISOString() }, { attempts: 3, backoff: 1000 })
        .catch((error: unknown) => ctx.log.error({ err: error }, 'no receipt'))
    })
    const handle = await receiptQueue.subscribe(({ title, at }) => ctx.log.info(`receipt: "${title}", ${at}`))
    ctx.onClose(async () => {
      stop()
      await handle.unsubscribe()
    })
  },
})
