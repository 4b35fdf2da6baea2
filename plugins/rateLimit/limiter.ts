import { createHash } from 'node:crypto'
import {
  defineErrors,
  isPromise,
  OptionError,
  type Request,
  type Response,
  sendFailure,
  TracePoint,
} from '../../kernel/index.ts'
import { networkOf } from '../shared/http/network.ts'
import { identityOf, subjectOf } from '../shared/http/subject.ts'
import { currentTenant, nameInTenant } from '../shared/values/tenants.ts'
import type { RateLimitAmount, RateLimitWindow, Rule } from './options.ts'
import type { Hit, Limits, StoreWindow, Taken } from './stores/contract.ts'

const { TooManyRequestsError, RateLimitUnavailableError, RateLimitFunctionError } = defineErrors({
  TooManyRequestsError: [
    429,
    (limit: number | string, windowMs: number) => `more than ${limit} requests in ${windowMs / 1_000} s`,
  ],
  RateLimitUnavailableError: [503, () => 'the rate limit cannot be checked at the moment; try again later'],
  RateLimitFunctionError: (name: string, why: string) =>
    `the limit "${name}" cannot be applied, so the request is refused: ${why}`,
})

/** One counted request. */
export interface RateLimitTrace {
  /** The request that was counted. */
  readonly request: Request
  /** `server` for the limit of the plugin, `route` for the limit of a route, `subject` for the limit of a caller. */
  readonly limit: 'server' | 'route' | 'subject'
  /** Whether the request is within the limit; otherwise it is refused with 429. */
  readonly accepted: boolean
}

const countedPoint = new TracePoint<RateLimitTrace>('rateLimit')

/** Counts one request; returns true if it may continue, false if a response was sent. */
export type Limiter = (req: Request, res: Response) => boolean | Promise<boolean>

/** A counter, which several limits may share that differ in the cost of their requests. */
export interface Count {
  readonly name: string
  readonly kind: RateLimitTrace['limit']
  /** Whether a limit of it needs `take()` of the store; known before the first request. */
  takes: boolean
}

/** The values of a limit for one request. */
interface Amounts {
  readonly cost: number
  readonly limits: readonly number[]
}

const windowsOf = ({ limit, windowMs, burst, windows }: Rule): readonly RateLimitWindow[] =>
  windows ?? [{ limit, windowMs, ...(burst !== undefined && { burst }) }]

/** Returns the function that finds the values of a limit for a request. */
function amountsOf(name: string, windows: readonly RateLimitWindow[], given: RateLimitAmount = 1) {
  const valueFor = (amount: RateLimitAmount, what: string, req: Request) => {
    const checked = (value: unknown) => {
      if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
      throw RateLimitFunctionError(
        name,
        `its function ${what} returned ${String(value)}, not a whole number, 0 or more`,
      )
    }
    const value = typeof amount === 'number' ? amount : amount(req)
    return isPromise(value) ? Promise.resolve(value).then(checked) : checked(value)
  }
  const all = [given, ...windows.map(({ limit }) => limit)]
  if (all.every((one) => typeof one === 'number')) {
    const [cost, ...limits] = all as number[]
    const fixed: Amounts = { cost: cost!, limits }
    return () => fixed
  }
  return (req: Request): Amounts | Promise<Amounts> => {
    const values = all.map((one, i) => valueFor(one, i === 0 ? 'cost' : 'limit', req))
    const settled = ([cost, ...limits]: number[]): Amounts => ({ cost: cost!, limits })
    return values.some(isPromise) ? Promise.all(values).then(settled) : settled(values as number[])
  }
}

/** The headers and the error of a limit. One error for all: an error with its stack for each refused request would cost the server more than the attacker. */
function shownOf(windows: readonly RateLimitWindow[]) {
  const policyOf = (limits: readonly (number | string)[]) =>
    windows
      .map(({ windowMs, burst }, i) => `${limits[i]};w=${Math.ceil(windowMs / 1_000)}${burst ? `;burst=${burst}` : ''}`)
      .join(', ')
  const fixed = windows.map(({ limit }) => (typeof limit === 'number' ? limit : undefined))
  const policy = policyOf(fixed.map((limit) => limit ?? '*'))
  return {
    policyFor: (limits: readonly number[]) => (fixed.includes(undefined) ? policyOf(limits) : policy),
    errors: windows.map(({ windowMs }, i) => TooManyRequestsError(fixed[i] ?? 'the allowed', windowMs)),
  }
}

/** Makes the functions that respond by the state of one window, or of all, and note what became of the request. */
function judgeOf(
  { statusCode }: Rule,
  windows: readonly RateLimitWindow[],
  kind: RateLimitTrace['limit'],
  shown: Limits['shown'][number],
) {
  const { policyFor, errors } = shownOf(windows)
  const unavailable = RateLimitUnavailableError()
  /** A refused request is in the count. */
  const one = (hit: Hit | undefined, first: number, { cost, limits }: Amounts, req: Request, res: Response) => {
    if (hit === undefined) {
      shown.refused++
      res.setHeader('retry-after', 1)
      sendFailure(req, res, unavailable)
      return false
    }
    const { count: used, resetMs } = hit
    const { burst, windowMs } = windows[first]!
    const limit = limits[first]!
    const room = (burst ?? limit) - used
    const accepted = room >= 0
    res
      .setHeader('ratelimit-policy', policyFor(limits))
      .setHeader('ratelimit-limit', limit)
      .setHeader('ratelimit-remaining', Math.max(0, Math.floor(accepted ? room : room + cost)))
      .setHeader('ratelimit-reset', Math.ceil(resetMs / 1_000))
    if (countedPoint.isOn) countedPoint.publish({ request: req, limit: kind, accepted })
    if (accepted) {
      shown.accepted++
      return true
    }
    shown.refused++
    const waitMs = burst === undefined || limit === 0 ? resetMs : (-room * windowMs) / limit
    res.setHeader('retry-after', Math.max(1, Math.ceil(waitMs / 1_000)))
    sendFailure(req, res, errors[first]!, { status: statusCode })
    return false
  }
  const all = (taken: Taken | undefined, values: Amounts, req: Request, res: Response) => {
    if (taken === undefined) return one(undefined, 0, values, req, res)
    const { cost, limits } = values
    const capacityOf = (i: number) => windows[i]!.burst ?? limits[i]!
    // Without the fractions by which an accepted request may exceed a bucket.
    const hits = taken.windows.map(({ count: used, resetMs }, i) => ({
      count: taken.accepted ? Math.min(used, capacityOf(i)) : used + cost,
      resetMs,
    }))
    // The window that has refused, or that will be the first to do so.
    const shareOf = (i: number) => (capacityOf(i) - hits[i]!.count) / Math.max(1, capacityOf(i))
    const first = hits.reduce((best, _, i) => (shareOf(i) < shareOf(best) ? i : best), 0)
    return one(hits[first], first, values, req, res)
  }
  return { one, all }
}

const listed = (all: readonly (number | string)[]) => (all.length === 1 ? all[0]! : all.join(', '))

/** Makes a function of a limit; it returns no promise unless the store or a function of the application needs one. */
export function limiterOf(rule: Rule, all: Limits, count: Count): Limiter {
  const { name, kind } = count
  const windows = windowsOf(rule)
  const { statusCode, skip, onStoreFailure, cost } = rule
  const shown: Limits['shown'][number] = {
    name,
    limits: listed(windows.map(({ limit }) => (typeof limit === 'number' ? limit : 'by function'))),
    windows: listed(windows.map(({ windowMs }) => windowMs / 1_000)),
    statusCode,
    accepted: 0,
    refused: 0,
  }
  all.shown.push(shown)
  if (windows.length > 1 || windows[0]!.burst !== undefined || cost !== undefined) count.takes = true
  if (count.takes && all.counter.take === undefined)
    throw OptionError(
      'rateLimit.store',
      'a store without take()',
      `a store with take(), which the limit "${name}" needs`,
    )
  for (const { limit, burst } of windows)
    if (Number(cost) > (burst ?? Number(limit)))
      throw OptionError('rateLimit.cost', cost, `a cost that the limit "${name}" allows, at most ${burst ?? limit}`)
  const amounts = amountsOf(name, windows, cost)

  const judge = judgeOf(rule, windows, count.kind, shown)
  const take = (key: string, values: Amounts, req: Request, res: Response) => {
    const { cost, limits } = values
    // No store is asked for what a window never allows.
    if (limits.some((limit, i) => limit === 0 || cost > (windows[i]!.burst ?? limit))) {
      const full = windows.map(({ windowMs, burst }, i) => ({ count: burst ?? limits[i]!, resetMs: windowMs }))
      return judge.all({ accepted: false, windows: full }, values, req, res)
    }
    const asked: StoreWindow[] = windows.map(({ windowMs, burst }, i) => ({ limit: limits[i]!, windowMs, burst }))
    const taken = all.counter.take!(key, cost, asked, onStoreFailure)
    if (isPromise(taken)) return Promise.resolve(taken).then((settled) => judge.all(settled, values, req, res))
    return judge.all(taken, values, req, res)
  }
  const ask = (key: string, values: Amounts, req: Request, res: Response) => {
    if (count.takes) return take(key, values, req, res)
    const hit = all.counter.hit(key, windows[0]!.windowMs, onStoreFailure)
    return hit instanceof Promise
      ? hit.then((settled) => judge.one(settled, 0, values, req, res))
      : judge.one(hit, 0, values, req, res)
  }
  const measure = (key: string | undefined, req: Request, res: Response) => {
    if (key === undefined) return true
    const values = amounts(req)
    return values instanceof Promise
      ? values.then((settled) => ask(key, settled, req, res))
      : ask(key, values, req, res)
  }
  const keyOf = kind === 'subject' ? subjectKeyOf(rule, name) : addressKeyOf(rule, name)
  const counted: Limiter = (req, res) => {
    const key = keyOf(req)
    return key instanceof Promise ? key.then((settled) => measure(settled, req, res)) : measure(key, req, res)
  }
  if (skip === undefined) return counted
  return (req, res) => {
    // Only true skips: a function that forgets to respond must not disable the limit.
    const skips = skip(req)
    if (isPromise(skips)) return Promise.resolve(skips).then((settled) => settled === true || counted(req, res))
    return skips === true || counted(req, res)
  }
}

type KeyOf = (req: Request) => string | undefined | Promise<string | undefined>

/** Makes the key of the counter from that of the application, or from another one where that is missing. */
function keyWith(own: KeyOf | undefined, name: string, other: (req: Request) => string): KeyOf {
  // Also for `null`: a database's result for unknown clients must not put all of them into one counter.
  const named = (key: unknown, req: Request) => `${name} ${key == null ? other(req) : ownKey(String(key))}`
  if (own === undefined) return (req) => `${name} ${other(req)}`
  return (req) => {
    const key = own(req)
    return isPromise(key) ? Promise.resolve(key).then((settled) => named(settled, req)) : named(key, req)
  }
}

function addressKeyOf({ key }: Rule, name: string): KeyOf {
  let isReported = false
  return keyWith(key, name, ({ ip, log }) => {
    if (ip === '' && !isReported) {
      isReported = true
      log.warn(
        { limit: name },
        `the limit "${name}" receives requests without a client address, and counts all of them as one client. Pass the address, server.fetch(request, { ip }), or set rateLimit.key`,
      )
    }
    return networkOf(ip)
  })
}

/** Requests without a subject have no key: they count for their address alone. */
function subjectKeyOf({ key }: Rule, name: string): KeyOf {
  const keyOf = keyWith(key, name, (req) => {
    const identity = identityOf(subjectOf(req))
    if (identity !== undefined) return ownKey(identity)
    throw RateLimitFunctionError(name, 'the caller has neither "id" nor "sub". Set rateLimit.subject.key')
  })
  return (req) => {
    if (subjectOf(req) === undefined) return undefined
    const [key, tenant] = [keyOf(req), currentTenant()]
    if (tenant === undefined) return key
    return key instanceof Promise ? key.then((settled) => nameInTenant(settled!, tenant)) : nameInTenant(key!, tenant)
  }
}

/** Marks a key of the application, so that it never equals an address, and shortens it, since clients may choose parts of it. */
export function ownKey(key: string): string {
  return key.length <= 64 ? `=${key}` : `#${createHash('sha256').update(key).digest('base64')}`
}
