import { createHash } from 'node:crypto'
import { defineErrors, isPromise, type Request, type Response, sendFailure, TracePoint } from '../../kernel/index.ts'
import { networkOf } from '../shared/http/network.ts'
import type { Rule } from './options.ts'
import type { Hit, Limits } from './stores/contract.ts'

const { TooManyRequestsError, RateLimitUnavailableError } = defineErrors({
  TooManyRequestsError: [
    429,
    (limit: number, windowMs: number) => `more than ${limit} requests in ${windowMs / 1_000} s`,
  ],
  RateLimitUnavailableError: [
    503,
    () => 'the rate limit cannot be checked at the moment; try again later',
  ],
})

/** One counted request. */
export interface RateLimitTrace {
  /** The request that was counted. */
  readonly request: Request
  /** `server` for the limit of the plugin, `route` for the limit of a route. */
  readonly limit: 'server' | 'route'
  /** Whether the request is within the limit; otherwise it is refused with 429. */
  readonly accepted: boolean
}

const countedPoint = new TracePoint<RateLimitTrace>('rateLimit')

/** Counts one request; returns true if it may continue, false if a response was sent. */
export type Limiter = (req: Request, res: Response) => boolean | Promise<boolean>

/** Makes a function of a limit; it returns no promise unless the store or a function of the application needs one. */
export function limiterOf(rule: Rule, all: Limits, kind: RateLimitTrace['limit'], name: string): Limiter {
  const shown: Limits['shown'][number] = { name, rule, accepted: 0, refused: 0 }
  all.shown.push(shown)
  const { limit, windowMs, statusCode, key: keyOf, skip, onStoreFailure } = rule
  const policy = `${limit};w=${Math.ceil(windowMs / 1_000)}`
  // One error for all: an error with its stack for each refused request would cost the server more than the attacker.
  const error = TooManyRequestsError(limit, windowMs)
  const unavailable = RateLimitUnavailableError()

  let isReported = false
  const addressOf = ({ ip, log }: Request): string => {
    if (ip === '' && !isReported) {
      isReported = true
      log.warn(
        { limit: name },
        `the limit "${name}" receives requests without a client address, and counts all of them as one client. Pass the address, server.fetch(request, { ip }), or set rateLimit.key`,
      )
    }
    return ip
  }
  const judge = (hit: Hit | undefined, req: Request, res: Response): boolean => {
    if (hit === undefined) {
      shown.refused++
      res.setHeader('retry-after', 1)
      sendFailure(req, res, unavailable)
      return false
    }
    const seconds = Math.ceil(hit.resetMs / 1_000)
    res
      .setHeader('ratelimit-policy', policy)
      .setHeader('ratelimit-limit', limit)
      .setHeader('ratelimit-remaining', Math.max(0, limit - hit.count))
      .setHeader('ratelimit-reset', seconds)
    const accepted = hit.count <= limit
    if (countedPoint.isOn) countedPoint.publish({ request: req, limit: kind, accepted })
    if (accepted) {
      shown.accepted++
      return true
    }
    shown.refused++
    res.setHeader('retry-after', Math.max(1, seconds))
    sendFailure(req, res, error, { status: statusCode })
    return false
  }
  const count = (key: string | undefined, req: Request, res: Response): boolean | Promise<boolean> => {
    // Also for `null`: a database's result for unknown clients must not put all of them into one counter.
    const who = key == null ? networkOf(addressOf(req)) : ownKey(String(key))
    const hit = all.counter.hit(`${name} ${who}`, windowMs, onStoreFailure)
    return hit instanceof Promise ? hit.then((settled) => judge(settled, req, res)) : judge(hit, req, res)
  }
  const identify = (req: Request, res: Response): boolean | Promise<boolean> => {
    const key = keyOf?.(req)
    return isPromise(key) ? Promise.resolve(key).then((settled) => count(settled, req, res)) : count(key, req, res)
  }
  if (skip === undefined) return identify
  return (req, res) => {
    // Only true skips: a function that forgets to respond must not disable the limit.
    const skips = skip(req)
    if (isPromise(skips)) return Promise.resolve(skips).then((settled) => settled === true || identify(req, res))
    return skips === true || identify(req, res)
  }
}

/** Marks a key of the application, so that it never equals an address, and shortens it, since clients may choose parts of it. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
