import { definePlugin, mqtt } from 'framework'

declare module 'framework' {
  interface MqttTopics {
    /** A message from the box by the door: someone has put a book into it. */
    'library/returns-box': { loan: string; member: string }
    /** What the sign above the box shows. */
    'library/news': { kind: string; title: string }
  }
}

/** Takes back the books in the returns box, and publishes the events of the library. */
export const returnsBox = definePlugin({
  name: 'returns-box',
  dependencies: ['library', 'mqtt'],
  setup(ctx) {
    const library = ctx.services.get('library')
    const broker = ctx.services.get('mqtt')
    const stop = library.listen(({ kind, book }) => {
      if (!broker.isConnected) return
      broker
        .publish('library/news', { kind, title: book.title }, { qos: 1, retain: true })
        .catch((error: unknown) => ctx.log.error({ err: error }, 'the news was not published'))
    })
    // An unknown loan is logged, like everything that a handler throws.
    const box = mqtt.subscribe('library/returns-box', ({ loan, member }) => library.takeBack(loan, member), {
      qos: 1,
      transaction: true,
    })
    ctx.onClose(async () => {
      stop()
      await box.unsubscribe()
    })
  },
})
