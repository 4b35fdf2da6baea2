import { definePlugin } from '../../kernel/index.ts'

export const json = definePlugin({
  name: 'json',
  setup(ctx, _options: { sizeLimit?: string } = {}) {
    ctx.use(async function json(req, _res, next) {
      if (!req.raw.hasBody) return next()
      req.body = JSON.parse(Buffer.from(await req.raw.bytes(100_000)).toString())
      return next()
    })
  },
})
