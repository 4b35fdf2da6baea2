import { definePlugin, option } from 'framework'
import { SlowLog } from './slow-log.ts'

export interface SlowOptions {
  /** Milliseconds after which a request counts as slow; default 100. */
  after?: number
  /** How many are remembered; default 20. */
  keep?: number
}

declare module 'framework' {
  interface Services {
    slow: SlowLog
  }
}

const options = option
  .shape({ after: option.ms().default(100), keep: option.int({ min: 1 }).default(20) })
  .typed<SlowOptions>()

/** Remembers requests that take long. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.1.0',
  options,
  provide: ({ keep }) => ({ slow: new SlowLog(keep) }),
  setup(ctx, { after }) {
    const log = ctx.services.get('slow')
    ctx.onResponse((req, _res, ms) => {
      if (ms > after) log.add({ route: `${req.method} ${req.route ?? req.path}`, ms })
    })
  },
})
