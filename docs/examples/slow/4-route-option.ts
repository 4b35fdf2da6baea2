import { definePlugin, option } from 'framework'
import { SlowLog } from './slow-log.ts'

declare module 'framework' {
  interface RouteOptions {
    /** Milliseconds after which a request to this route counts as slow; `false`: never. */
    slowAfter?: number | false
  }
}

/** Remembers requests that take long, with a limit for each route. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.2.0',
  options: option.shape({ after: option.ms().default(100), keep: option.int({ min: 1 }).default(20) }),
  routeOptions: { slowAfter: option.either(option.ms(), option.off()) },
  provide: ({ keep }) => ({ slow: new SlowLog(keep) }),
  setup(ctx, { after }) {
    const log = ctx.services.get('slow')
    ctx.onRoute((route) => {
      const { slowAfter: limit = after } = route.settings
      if (limit === false) return
      const name = `${route.method} ${route.path}`
      route.add('around', async function slow(_req, _res, next) {
        const start = performance.now()
        try {
          await next()
        } finally {
          const ms = performance.now() - start
          if (ms > limit) log.add({ route: name, ms })
        }
      })
    })
  },
})
