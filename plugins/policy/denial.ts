import {
  defineErrors,
  isPromise,
  type Middleware,
  type Request,
  type Response,
  sendFailure,
  TracePoint,
} from '../../kernel/index.ts'
import { codeOf, phraseOf } from '../shared/failures/described-error.ts'
import { markGuard } from '../shared/http/guards.ts'
import { option } from '../shared/options/index.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { Ask, DenialStatus } from './check.ts'
import type { PolicyRequirement } from './options.ts'

/** Responds to a request that a policy refused. The status is preset to that of the policy, usually 401; a returned value becomes the body. */
export type PolicyErrorCallback = (req: Request, res: Response) => unknown

/** The response to a refused request. */
export interface PolicyErrorOptions {
  /** The status of the response. Default: that of the policy, usually 401. */
  status?: number
  /** Makes the body. Default `{ error: 'Unauthorized' }`, in the default error format. */
  map?(req: Request): unknown
}

/** The response to a refused request: by a function, or with a status and a body. */
export type PolicyErrorHandler = PolicyErrorCallback | PolicyErrorOptions

const { UnauthorizedError, ForbiddenError } = defineErrors({
  UnauthorizedError: [401, () => 'authentication is required'],
  ForbiddenError: [403, () => 'the caller is not allowed to do this'],
})

// One error for all requests: a stack for each refused request would cost the server more than the attacker.
const reasons = { 401: UnauthorizedError(), 403: ForbiddenError() }
const bodies = { 401: { error: 'Unauthorized' }, 403: { error: 'Forbidden' } }

const errorOptions = option
  .shape({
    status: option.int({ min: 400, max: 599 }),
    map: option.fn<(req: Request) => unknown>('a function (req) => body'),
  })
  .says('a function (req, res) or { status, map(req) }')
  .required()
  .typed<PolicyErrorOptions>()

function fromOptions(options: PolicyErrorOptions): PolicyErrorCallback {
  const { status, map } = errorOptions.parse(options, 'setPolicyErrorHandler')
  return (req, res) => {
    const body = map?.(req)
    if (status !== undefined) res.status(status)
    if (map === undefined) return undefined
    return isPromise(body) ? Promise.resolve(body).then((one) => res.send(one)) : res.send(body)
  }
}

/** The responses of one server to requests that its policies refuse. */
export class PolicyDenials {
  #handler: PolicyErrorCallback | undefined

  /** Sets the response to refused requests, from the next one on. */
  setHandler(handler: PolicyErrorHandler): void {
    this.#handler = typeof handler === 'function' ? handler : fromOptions(handler)
  }

  /** Responds to a refused request; returns a promise only if the handler does. */
  deny(req: Request, res: Response, { policy, denial, challenge }: Ask): void | Promise<void> {
    reportRefusal({ policy, request: req })
    const status = denial(req)
    res.status(status)
    const end = (value: unknown) => {
      finish(value, req, res, status)
      // After the handler: a 404 that says how to sign in would hide nothing, and a challenge that the handler sets stays.
      if (challenge === undefined || res.statusCode !== 401 || res.getHeader('www-authenticate') !== undefined) return
      res.header('www-authenticate', challenge)
    }
    const value = this.#handler?.(req, res)
    return isPromise(value) ? Promise.resolve(value).then(end) : end(value)
  }
}

/** A refusal of one check. */
interface PolicyTrace {
  /** The names of scope and check: `site.admin`. */
  readonly policy: string
  /** The refused request; missing for a check by `canAccess`. */
  readonly request?: Request
}

const refusal = new TracePoint<PolicyTrace>('policy')

/** Reports a refusal to tracing tools. */
export const reportRefusal = (event: PolicyTrace): void => refusal.publish(event)

export const work: readonly WorkKind[] = [
  workKind<PolicyTrace>({
    channel: 'policy',
    form: 'moment',
    list: { id: 'policy', title: 'Refusals' },
    help: 'Refusals of policies, by the check',
    span: () => 'policy',
    note: ({ policy }) => `refused by ${policy}`,
    labels: { policy: { attribute: 'framework.policy.name', of: ({ policy }) => policy } },
    request: ({ request }) => request,
    metric: 'policy.refusals',
  }),
]

const isDenial = (status: number) => status === 401 || status === 403

/** Sends a returned value as the body, like that of a route's handler; if the handler does not respond, the request is still refused. */
function finish(value: unknown, req: Request, res: Response, refused: DenialStatus): void {
  if (res.answered) return
  if (value !== undefined && value !== res) return void res.send(value)
  const { statusCode: status } = res
  // A 404 with the code of a refusal would hide nothing.
  const hidden = isDenial(status) ? {} : { code: codeOf(status), message: phraseOf(status) }
  const body = isDenial(status) ? bodies[refused] : { error: phraseOf(status) }
  sendFailure(req, res, reasons[status === 403 ? 403 : 401], { status, ...hidden, body })
}

/** A route that asks policies. */
export interface GuardedRoute {
  readonly route: string
  readonly requirements: readonly PolicyRequirement[]
}

/** The guarded routes by the services of their server, for the inspector. */
export const guardedRoutes = new WeakMap<object, readonly GuardedRoute[]>()

/** A middleware that continues if the check allows it; without a promise if the check needs none. */
export function guard(requirement: PolicyRequirement, denialsOf: (req: Request) => PolicyDenials): Middleware {
  const { manager, scope, handler, status } = requirement
  const ask = manager.askOf(scope, handler, status)
  const middleware: Middleware = (req, res, next) => {
    const verdict = ask(req)
    if (verdict === true) return next()
    if (verdict === false) return denialsOf(req).deny(req, res, ask)
    return verdict.then((passes) => (passes ? next() : denialsOf(req).deny(req, res, ask)))
  }
  return Object.defineProperty(markGuard(middleware, requirement), 'name', { value: `policy(${scope}.${handler})` })
}
