import { createHash } from 'node:crypto'
import { defineErrors, isPromise, type Request, type Response, sendFailure, TracePoint } from '../../kernel/index.ts'
import { networkOf } from '../shared/http/network.ts'
import { currentTenant } from '../shared/values/tenants.ts'
import type { Rule } from './options.ts'
import type { Hit, Limits } from './stores/contract.ts'

const { TooManyRequestsError, RateLimitUnavailableError } = defineErrors({
  TooManyRequestsError: [
    429,
    (limit: number, windowMs: number) => `more than ${limit} requests in ${windowMs / 1_000} s`,
  ],
  RateLimitUnavailableError: [
    503,
    () => 'requests cannot be counted at the moment, and this one must be; try again later',
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
export type Count = (req: Request, res: Response) => boolean | Promise<boolean>

/** A limit, for routes without a tenant and with one. */
export interface Limiter {
  readonly count: Count
  /** Counts a request whose tenant is not known yet by its client, so that guesses of credentials are counted before they are checked. */
  readonly countFirst: Count
  /** Counts it for its tenant instead, once that is known: tenants at one address do not share a limit. */
  readonly countForTenant: Count
}

/** Makes a function of a limit; it returns no promise unless the store or a function of the application needs one. */
export function limiterOf(rule: Rule, all: Limits, kind: RateLimitTrace['limit'], name: string): Limiter {
  const shown: Limits['shown'][number] = { name, rule, accepted: 0, refused: 0 }
  all.shown.push(shown)
  const { limit, windowMs, statusCode, key: keyOf, skip, onStoreFailure } = rule
  const policy = `${limit};w=${Math.ceil(windowMs / 1_000)}`
  // One error for all: an error with its stack for each refused request would cost the server more than the attacker.
  const error = TooManyRequestsError(limit, windowMs)
  const unavailable = RateLimitUnavailableError()

  const addressOf = addressReader(name)
  /** The keys of requests that may be counted for their tenant. */
  const first = new WeakMap<Request, string>()
  const report = (request: Request, accepted: boolean) => {
    if (countedPoint.isOn) countedPoint.publish({ request, limit: kind, accepted })
    shown[accepted ? 'accepted' : 'refused']++
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
    // It is reported once its tenant is known.
    if (accepted && first.has(req)) return true
    report(req, accepted)
    if (accepted) return true
    // Requests of one tenant at the same time must not use up the window of all tenants at its address.
    const who = first.get(req)
    if (who) all.counter.takeBack(`${name} ${who}`)
    res.setHeader('retry-after', Math.max(1, seconds))
    sendFailure(req, res, error, { status: statusCode })
    return false
  }
  const count = (key: string | undefined, req: Request, res: Response): boolean | Promise<boolean> => {
    // Also for `null`: a database's result for unknown clients must not put all of them into one counter.
    const who = key == null ? networkOf(addressOf(req)) : ownKey(String(key))
    if (first.has(req)) first.set(req, who)
    return hitFor(who, req, res)
  }
  const hitFor = (who: string, req: Request, res: Response): boolean | Promise<boolean> => {
    const hit = all.counter.hit(`${name} ${who}`, windowMs, onStoreFailure)
    return hit instanceof Promise ? hit.then((settled) => judge(settled, req, res)) : judge(hit, req, res)
  }
  const identify = (req: Request, res: Response): boolean | Promise<boolean> => {
    const key = keyOf?.(req)
    return isPromise(key) ? Promise.resolve(key).then((settled) => count(settled, req, res)) : count(key, req, res)
  }
  const check: Count = (req, res) => {
    if (skip === undefined) return identify(req, res)
    // Only true skips: a function that forgets to respond must not disable the limit.
    const skips = skip(req)
    if (isPromise(skips)) return Promise.resolve(skips).then((settled) => settled === true || identify(req, res))
    return skips === true || identify(req, res)
  }
  return {
    count: skip === undefined ? identify : check,
    countFirst(req, res) {
      first.set(req, '')
      return check(req, res)
    },
    countForTenant(req, res) {
      const who = first.get(req)
      first.delete(req)
      const tenant = currentTenant()
      // Skipped.
      if (!who) return true
      if (tenant === undefined) {
        report(req, true)
        return true
      }
      all.counter.takeBack(`${name} ${who}`)
      return hitFor(`@${tenant.id} ${who}`, req, res)
    },
  }
}

/** Reads the address of a client; the first request without one is logged. */
function addressReader(name: string): (req: Request) => string {
  let isReported = false
  return ({ ip, log }: Request): string => {
    if (ip === '' && !isReported) {
      isReported = true
      log.warn(
        { limit: name },
        `the limit "${name}" receives requests without a client address, and counts all of them as one client. Pass the address, server.fetch(request, { ip }), or set rateLimit.key`,
      )
    }
    return ip
  }
}

/** Marks a key of the application, so that it never equals an address, and shortens it, since clients may choose parts of it. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
