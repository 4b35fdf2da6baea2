import { definePlugin, type Next, type Request, type Response } from '../../kernel/index.ts'
import { allowedOrigin, isPreflight, setOriginHeaders, setPreflightHeaders } from './headers.ts'
import { corsOptions } from './options.ts'

/**
 * Lets pages of other origins read responses, and responds to their preflights. Without the option `origin`, no origin is allowed.
 *
 * @example
 * new Server({ plugins: { cors: { origin: ['https://app.example', /^https:\/\/[a-z]+\.app\.example$/] } } })
 */
export const cors = definePlugin({
  name: 'cors',
  access: false,
  options: corsOptions,
  setup(ctx, policy) {
    const { rule } = policy
    if (rule.kind === 'none') return
    /** Requests for which the `origin` function was called: it is called only once per request, even when it fails. */
    const asked = new WeakSet<Request>()

    const proceed = (allowed: string | undefined, req: Request, res: Response, next: Next) => {
      setOriginHeaders(policy, allowed, res)
      if (!isPreflight(req)) {
        if (allowed !== undefined && policy.exposedHeaders !== undefined)
          res.setHeader('access-control-expose-headers', policy.exposedHeaders)
        return next()
      }
      setPreflightHeaders(policy, allowed, req, res)
      if (policy.preflightContinue) return next()
      return void res.status(policy.optionsSuccessStatus).send()
    }

    const decide = (req: Request, then: (allowed: string | undefined) => void | Promise<void>) => {
      if (rule.kind === 'ask' && rule.dynamic) asked.add(req)
      const allowed = allowedOrigin(policy, req)
      return allowed instanceof Promise ? allowed.then(then) : then(allowed)
    }

    ctx.use(function cors(req, res, next) {
      return decide(req, (allowed) => proceed(allowed, req, res, next))
    })

    // Handles requests that failed or got a response before the middleware above ran, and repairs a `Vary` that was replaced.
    ctx.onSend(function corsOnSend(req, res) {
      if (rule.kind === 'ask' && res.getHeader('vary') === 'Origin') return undefined
      if (asked.has(req) || res.getHeader('access-control-allow-origin') !== undefined) {
        if (rule.kind === 'ask') res.vary('Origin')
        return undefined
      }
      return decide(req, (allowed) => setOriginHeaders(policy, allowed, res))
    })
  },
})
