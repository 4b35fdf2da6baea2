import { definePlugin } from 'framework'

export interface SlowOptions {
  /** Milliseconds from which a request is slow; default 100. */
  after?: number
}

/** Warns of requests that take long. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.0.0',
  setup(ctx, { after = 100 }: SlowOptions = {}) {
    ctx.onResponse((req, _res, ms) => {
      if (ms > after) req.log.warn({ ms }, `${req.method} ${req.path} was slow`)
    })
  },
})
