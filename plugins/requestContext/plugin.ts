import { AsyncLocalStorage } from 'node:async_hooks'
import { definePlugin, type Request } from '../../kernel/index.ts'
import { lateWithin } from '../shared/http/late-within.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { option } from '../shared/options/index.ts'
import { type ContextClass, type ContextValues, contextClass, type RequestContext } from './context.ts'

// One storage for all servers of the process: each stored object belongs to one request anyway.
const storage = new AsyncLocalStorage<RequestContext | undefined>()

const slot = Symbol('requestContext')
type Holder = Request & { [slot]?: RequestContext }

/** The class of the nearest scope: the accessor is that of the first registration, and may be read before the middleware of a scope. */
const classes = new RouteValue<ContextClass>()

const contextOptions = option
  .record(
    option.fn<(req: Request) => unknown>('a function of the request').required(),
    'an object of functions: { tenant: (req) => … }',
  )
  .default({})
  .into(contextClass)
  .typed<ContextValues>()

/**
 * Returns the context of the request being handled, anywhere in code that its middlewares or its handler call: through
 * awaits, timers and callbacks. `undefined` outside of a request.
 *
 * @example
 * const context = currentContext()
 */
export function currentContext(): RequestContext | undefined {
  return storage.getStore()
}

/**
 * Keeps values for each request: in `req.context`, and through `currentContext()` for code that does not have the request.
 *
 * A value is created when it is first read, and can also be assigned.
 *
 * @example
 * new Server({ plugins: { requestContext: { startedAt: () => Date.now() } } })
 */
export const requestContext = definePlugin({
  name: 'requestContext',
  access: false,
  options: contextOptions,
  setup(ctx, Context) {
    const contextOf = (req: Holder): RequestContext => (req[slot] ??= new (classes.of(req) ?? Context)(req))
    ctx.onRoute((route) => classes.set(route, Context))

    ctx.decorate('request', {
      context: {
        get(this: Holder) {
          return contextOf(this)
        },
      },
    })

    ctx.use(function requestContext(req, _res, next) {
      return storage.run(contextOf(req), next)
    })

    lateWithin(ctx, (req: Holder, work) => storage.run(req[slot], work))
  },
})
