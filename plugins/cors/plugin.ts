import { definePlugin, type Next, type Request, type Response } from '../../kernel/index.ts'
import { allowedOrigin, isPreflight, setExposedHeaders, setOriginHeaders, setPreflightHeaders } from './headers.ts'
import { type CorsOptions, policyOf } from './options.ts'

/**
 * Lets pages of other origins read answers, and answers their preflights; nobody until an `origin` is named.
 *
 * @example
 * new Server({ plugins: { cors: { origin: ['https://app.example', /^https:\/\/[a-z]+\.app\.example$/] } } })
 */
export const cors = definePlugin({
  name: 'cors',
  setup(ctx, options: CorsOptions = {}) {
    const policy = policyOf(options)
    const { rule } = policy
    if (rule.kind === 'none') return
    /** Requests a function was asked about: it is asked once, also when it fails. */
    const asked = new WeakSet<Request>()

    const proceed = (allowed: string | undefined, req: Request, res: Response, next: Next) => {
      setOriginHeaders(policy, allowed, res)
      if (!isPreflight(req)) {
        setExposedHeaders(policy, allowed, res)
        return next()
      }
      setPreflightHeaders(policy, allowed, req, res)
      if (policy.preflightContinue) return next()
      return void res.status(policy.preflightStatus).send()
    }

    ctx.use(function cors(req, res, next) {
      if (rule.kind === 'ask' && rule.dynamic) asked.add(req)
      const allowed = allowedOrigin(policy, req)
      if (allowed instanceof Promise) return allowed.then((late) => proceed(late, req, res, next))
      return proceed(allowed, req, res, next)
    })

    // Who failed or answered before the middleware above had its turn is covered here, and a replaced `Vary` is mended.
    ctx.onSend(function corsOnSend(req, res) {
      if (res.getHeader('access-control-allow-origin') !== undefined || asked.has(req)) {
        if (rule.kind === 'ask') res.vary('Origin')
        return undefined
      }
      asked.add(req)
      const allowed = allowedOrigin(policy, req)
      if (allowed instanceof Promise) return allowed.then((late) => setOriginHeaders(policy, late, res))
      return setOriginHeaders(policy, allowed, res)
    })
  },
})
