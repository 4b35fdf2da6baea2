import { BadRequestError, definePlugin } from '../../kernel/index.ts'
import { methodOverrideOptions } from './options.ts'

/** The methods to which a request may change: those that clients limited to GET and POST lack. */
const targets: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE'])

/**
 * Turns a POST into the PUT, PATCH or DELETE named by a header, before it is routed: for clients and proxies that support no
 * other methods. Any other name gets 400 `BadRequestError`.
 *
 * @example
 * new Server({ plugins: { methodOverride: true } })
 */
export const methodOverride = definePlugin({
  name: 'methodOverride',
  access: false,
  options: methodOverrideOptions,
  setup(ctx, { header, methods }) {
    ctx.rewrite(function methodOverride(raw) {
      if (!methods.has(raw.method)) return undefined
      const given = raw.header(header)
      if (given === undefined) return undefined
      const method = given.trim().toUpperCase()
      // Some clients always send the header, even with the actual method.
      if (method === raw.method) return undefined
      if (!targets.has(method)) throw BadRequestError(`the header ${header} takes PUT, PATCH or DELETE`)
      return { method }
    })
  },
})
