import { AsyncLocalStorage } from 'node:async_hooks'
import { definePlugin, type Request } from '../../kernel/index.ts'
import { option } from '../toolkit/options/index.ts'
import { type ContextValues, contextClass, type RequestContext } from './context.ts'
import { isPlainIterable, iterateWithin } from './stream.ts'

// One for all servers of the process: each stored object belongs to one request anyway.
const storage = new AsyncLocalStorage<RequestContext>()

const slot = Symbol('requestContext')
type Holder = Request & { [slot]?: RequestContext }

const contextOptions = option
  .record(
    option.fn<(req: Request) => unknown>('a function of the request').required(),
    'an object of functions: { tenant: (req) => … }',
  )
  .default({})
  .into(contextClass)
  .typed<ContextValues>()

/**
 * The context of the request that is being answered, from anywhere below its middlewares and its handler: through
 * awaits, timers and callbacks. `undefined` outside of a request.
 *
 * @example
 * const context = currentContext()
 */
export function currentContext(): RequestContext | undefined {
  return storage.getStore()
}

/**
 * Keeps values for each request: `req.context`, and `currentContext()` for code without the request.
 *
 * A value is made when it is first read, and can be assigned.
 *
 * @example
 * new Server({ plugins: { requestContext: { tenant: (req) => req.headers['x-tenant'] ?? 'public' } } })
 */
export const requestContext = definePlugin({
  name: 'requestContext',
  options: contextOptions,
  setup(ctx, Context) {
    ctx.decorate('request', {
      context: {
        // For reads before the middleware has run.
        get(this: Holder) {
          this[slot] ??= new Context(this)
          return this[slot]
        },
      },
    })

    ctx.use(function requestContext(req, _res, next) {
      const context = new Context(req)
      ;(req as Holder)[slot] = context
      return storage.run(context, next)
    })

    // Streamed bodies are made after the chain has ended.
    ctx.onSend(function requestContextOnSend(req, res) {
      const context = (req as Holder)[slot]
      if (context === undefined || !isPlainIterable(res.payload)) return
      // An iterable that is sent as JSON was serialised here.
      const body = res.encode()
      if (isPlainIterable(body)) res.replaceBody(iterateWithin(storage, context, body))
    })
  },
})
