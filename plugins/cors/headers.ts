import type { Request, Response } from '../../kernel/index.ts'
import type { CorsPolicy } from './options.ts'
import { isOneOrigin } from './origin.ts'

/** Whether the answer to an origin is decided at once, or later. */
export type Decision = string | undefined | Promise<string | undefined>

/** The value of `Access-Control-Allow-Origin`, `undefined` for none. */
export function allowedOrigin({ rule }: CorsPolicy, req: Request): Decision {
  if (rule.kind === 'none') return undefined
  if (rule.kind === 'any') return '*'
  const origin = req.raw.header('origin')
  if (!isOneOrigin(origin)) return undefined
  const allowed = rule.allows(origin, req)
  // Only true allows: a function that forgets to answer must not allow the origin.
  return allowed instanceof Promise
    ? allowed.then((late) => (late === true ? origin : undefined))
    : allowed === true
      ? origin
      : undefined
}

/** Headers of every answer: its allowed origin, and that it differs by origin. */
export function setOriginHeaders(policy: CorsPolicy, allowed: string | undefined, res: Response): void {
  if (policy.rule.kind === 'ask') res.vary('Origin')
  if (allowed === undefined) return
  res.setHeader('access-control-allow-origin', allowed)
  if (policy.credentials) res.setHeader('access-control-allow-credentials', 'true')
}

/** Headers of answers that scripts read. */
export function setExposedHeaders(policy: CorsPolicy, allowed: string | undefined, res: Response): void {
  if (allowed !== undefined && policy.exposedHeaders !== undefined) {
    res.setHeader('access-control-expose-headers', policy.exposedHeaders)
  }
}

const headerList = /^[!#$%&'*+\-.^_`|~0-9A-Za-z, \t]*$/

/** Headers of the answer to a preflight: what the following request may be. */
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

/** An OPTIONS without this header is an ordinary request. */
export function isPreflight(req: Request): boolean {
  return req.method === 'OPTIONS' && req.raw.header('access-control-request-method') !== undefined
}
