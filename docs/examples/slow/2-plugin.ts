import { definePlugin, option } from 'framework'

export interface SlowOptions {
  /** Milliseconds after which a request counts as slow; default 100. */
  after?: number
}

const options = option.shape({ after: option.ms().default(100) }).typed<SlowOptions>()

/** Logs a warning for each request that takes long. */
export const slow = definePlugin({
  name: 'slow',
  version: '1.0.0',
  options,
  setup(ctx, { after }) {
    ctx.onResponse((req, _res, ms) => {
      if (ms > after) req.log.warn({ ms }, `${req.method} ${req.path} was slow`)
    })
  },
})
