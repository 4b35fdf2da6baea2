import { definePlugin } from 'framework'

/** Drops cached responses as soon as the library says that something has changed. */
export const freshness = definePlugin({
  name: 'freshness',
  dependencies: ['library', 'cache'],
  setup(ctx) {
    const cache = ctx.services.get('cache')
    const stop = ctx.services.get('library').listen(({ book }) => {
      cache.invalidate(['books', `book:${book.id}`]).catch((error: unknown) => ctx.log.error({ err: error }, 'stale'))
    })
    ctx.onClose(stop)
  },
})
