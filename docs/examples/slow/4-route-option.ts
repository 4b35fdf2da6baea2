import { definePlugin } from 'framework'
import type { SlowOptions } from './3-service.ts'
import { SlowLog } from './slow-log.ts'

declare module 'framework' {
  interface RouteOptions {
    /** Milliseconds from which this route is slow; `false`: never. */
    slowAfter?: number | false
  }
}

/** Remembers requests that take long, each route by its own measure. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.2.0',
  routeOptions: ['slowAfter'],
  provide: ({ keep = 20 }: SlowOptions = {}) => ({ slow: new SlowLog(keep) }),
  setup(ctx, { after = 100 }: SlowOptions = {}) {
    const log = ctx.services.get('slow')
    ctx.onRoute((route) => {
      const limit = route.options.slowAfter ?? after
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
