import { definePlugin } from 'framework'

/** Logs from time to time how many requests were slow. */
export const slowSummary = definePlugin({
  name: 'slow-summary',
  dependencies: ['slow'],
  setup(ctx, { everyMs = 60_000 }: { everyMs?: number } = {}) {
    const log = ctx.services.get('slow')
    const summarize = () => ctx.log.warn({ slowest: log.entries[0] }, `${log.entries.length} slow requests`)
    let timer: NodeJS.Timeout | undefined
    ctx.onListen(() => {
      timer = setInterval(summarize, everyMs)
    })
    ctx.onClose(() => {
      clearInterval(timer)
      if (log.entries.length > 0) summarize()
    })
  },
})
