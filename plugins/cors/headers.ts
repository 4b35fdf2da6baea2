import { defineErrors, isPromise, type Request, type Response } from '../../kernel/index.ts'
import type { CorsPolicy } from './options.ts'
import { isOneOrigin } from './origin.ts'

const { OriginResultError } = defineErrors({
  OriginResultError: (result: string) =>
    `the function in "cors.origin" returned ${result}. Return true, false, or a promise of one of them: its second argument is the request, not a callback as in the package "cors"`,
})

/** The allowed origin, `undefined` for none; a promise if it is decided later. */
export type Decision = string | undefined | Promise<string | undefined>

/** Returns the value of `Access-Control-Allow-Origin`; `undefined` for none. */
export function allowedOrigin({ rule }: CorsPolicy, req: Request): Decision {
  if (rule.kind === 'none') return undefined
  if (rule.kind === 'any') return '*'
  const origin = req.raw.header('origin')
  if (!isOneOrigin(origin)) return undefined
  const judge = (allowed: unknown) => {
    if (typeof allowed === 'boolean') return allowed ? origin : undefined
    throw OriginResultError(allowed === null ? 'null' : typeof allowed)
  }
  const allowed: unknown = rule.allows(origin, rule.dynamic ? callable(req) : req)
  return isPromise(allowed) ? Promise.resolve(allowed).then(judge) : judge(allowed)
}

/**
 * The request in a form that can be called as well: a function in the callback form calls its second argument, often from a timer or a
 * database, where the TypeError would end the process.
 */
function callable(req: Request): Request {
  const called: unknown = new Proxy(() => {}, {
    get(_target, name) {
      const value: unknown = Reflect.get(req, name)
      return typeof value === 'function' ? value.bind(req) : value
    },
    set: (_target, name, value) => Reflect.set(req, name, value),
    has: (_target, name) => name in req,
  })
  return called as Request
}

/** Sets the headers of every response: the allowed origin, and that the response varies by origin. */
export function setOriginHeaders(policy: CorsPolicy, allowed: string | undefined, res: Response): void {
  if (policy.rule.kind === 'ask') res.vary('Origin')
  if (allowed === undefined) return
  res.setHeader('access-control-allow-origin', allowed)
  if (policy.credentials) res.setHeader('access-control-allow-credentials', 'true')
}

const headerList = /^[!#$%&'*+\-.^_`|~0-9A-Za-z, \t]*$/

/** Sets the headers of the response to a preflight, which say what the actual request may contain. */
export function setPreflightHeaders(
  policy: CorsPolicy,
  allowed: string | undefined,
  req: Request,
  res: Response,
): void {
  const asked = req.raw.header('access-control-request-headers')
  if (policy.rule.kind !== 'none' && policy.allowedHeaders === undefined) res.vary('Access-Control-Request-Headers')
  if (allowed === undefined) return
  res.setHeader('access-control-allow-methods', policy.methods)
  const headers = policy.allowedHeaders ?? asked
  if (headers !== undefined && headers !== '' && headerList.test(headers)) {
    res.setHeader('access-control-allow-headers', headers)
  }
  if (policy.maxAge !== undefined) res.setHeader('access-control-max-age', policy.maxAge)
}

/** Whether a request is a preflight; an OPTIONS without this header is an ordinary request. */
export function isPreflight(req: Request): boolean {
  return req.method === 'OPTIONS' && req.raw.header('access-control-request-method') !== undefined
}
