import { definePlugin } from 'framework'
import { SlowLog } from './slow-log.ts'

export interface SlowOptions {
  /** Milliseconds from which a request is slow; default 100. */
  after?: number
  /** How many are remembered; default 20. */
  keep?: number
}

declare module 'framework' {
  interface Services {
    slow: SlowLog
  }
}

/** Remembers requests that take long. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.1.0',
  provide: ({ keep = 20 }: SlowOptions = {}) => ({ slow: new SlowLog(keep) }),
  setup(ctx, { after = 100 }: SlowOptions = {}) {
    const log = ctx.services.get('slow')
    ctx.onResponse((req, _res, ms) => {
      if (ms > after) log.add({ route: `${req.method} ${req.route ?? req.path}`, ms })
    })
  },
})
