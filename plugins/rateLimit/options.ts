import type { OptionPlace, Request } from '../../kernel/index.ts'
import type { AuthSubject } from '../auth/plugin.ts'
import { Check, option, type SettingsOf } from '../shared/options/index.ts'
import { inRedis, redisStore, type StoreInRedis } from '../shared/stores/redis-store.ts'
import type { OnStoreFailure, RateLimitStore } from './stores/contract.ts'

/** A whole number, or a function that returns it for a request; an error, `NaN` or a negative number fails the request with 500. */
export type RateLimitAmount<Of = Request> = number | ((req: Of) => number | Promise<number>)

/** How much may be used in which time. */
export interface RateLimitWindow<Of = Request> {
  /** Requests that a client may send in one window. */
  limit: RateLimitAmount<Of>
  /** The length of a window, in milliseconds. */
  windowMs: number
  /** Makes it a bucket: this many requests at once, and then evenly `limit` in each `windowMs` (GCRA). Default: a fixed window. */
  burst?: number
}

/** One limit. */
export interface RateLimitRule<Of = Request> extends Partial<RateLimitWindow<Of>> {
  /** Requests that a client may send in one window. Default 100. */
  limit?: RateLimitAmount<Of>
  /** The length of a window, in milliseconds. Default 60000. */
  windowMs?: number
  /** Several windows at once, in place of `limit`, `windowMs` and `burst`; a request that one of them refuses counts in none. */
  windows?: readonly RateLimitWindow<Of>[]
  /** How many requests this one counts as: a whole number, 0 or more. Default 1. */
  cost?: RateLimitAmount<Of>
  /** Returns the key of the counter; `undefined` for the default: the address, for IPv6 its /64 network, or the `id` or `sub` of the subject. */
  key?: (req: Of) => string | undefined | Promise<string | undefined>
  /** Requests for which it returns `true` are not counted. */
  skip?: (req: Of) => boolean | Promise<boolean>
  /** The status of a refusal. Default 429. */
  statusCode?: number
  /**
   * What happens while the store does not respond: `'count'`: each process counts by itself, from the last known counts; `'refuse'`: 503, for
   * log-ins and whatever else must not be tried more often than its limit. Default `'count'`.
   */
  onStoreFailure?: OnStoreFailure
}

/** A request whose caller is known. */
export type SubjectRequest = Request & {
  /** The caller. */
  readonly user: AuthSubject
}

/** The limit of a route for each address, and for each caller. */
export interface RouteRateLimit extends RateLimitRule {
  /** A limit for each authenticated caller, counted after `auth`, in addition to that for the address; `false`: none. */
  subject?: false | RateLimitRule<SubjectRequest>
}

/** The limits of the whole server, and the store of the counters. */
export interface RateLimitOptions extends RouteRateLimit {
  /** Where requests are counted: `'memory'`, `'redis'` or `{ redis }`, or a store. Default `'memory'`. */
  store?: 'memory' | StoreInRedis | RateLimitStore
}

/** Whether it is a store of the application. */
export const isStore = (given: unknown): given is RateLimitStore =>
  typeof (given as Partial<RateLimitStore> | null)?.hit === 'function'

const amount = (min: number, takes: string) =>
  option
    .either(option.int({ min }), option.fn<(req: never) => number | Promise<number>>())
    .says(`${takes}, or a function (req) => number`)
const limit = amount(1, 'a whole number of requests above 0')
const windowMs = option.int({ min: 1, max: 2_147_483_647 }).says('whole milliseconds above 0')
const burst = option.int({ min: 1 }).says('a whole number of requests above 0')

const rule = {
  limit: limit.default(100).guard(),
  windowMs: windowMs.default(60_000).guard(),
  burst: burst.guard(),
  windows: option
    .list(option.shape({ limit: limit.required(), windowMs: windowMs.required(), burst }), { min: 1 })
    .into((windows, place) => {
      const lengths = windows.map((one) => one.windowMs)
      if (new Set(lengths).size < lengths.length) place.wrong(lengths, 'windows of different lengths')
      return windows
    })
    .guard(),
  cost: amount(0, 'a whole number, 0 or more').guard(),
  key: option.fn<(req: never) => string | undefined | Promise<string | undefined>>('a function of the request').guard(),
  skip: option.fn<(req: never) => boolean | Promise<boolean>>('a function of the request'),
  statusCode: option.int({ min: 400, max: 599 }).says('a status from 400 to 599').default(429),
  onStoreFailure: option.oneOf('count', 'refuse').default('count').guard(),
}

const ofOneWindow = ['limit', 'windowMs', 'burst'] as const

/** Whether an option, as it is written, says itself how much may be used. */
const hasWindow = (given: RateLimitRule<never>) => ofOneWindow.some((name) => given[name] !== undefined)

/** Notes that two options contradict each other: one of them would be ignored. */
function checkWindows(given: object, place: OptionPlace): void {
  const { windows } = given as RateLimitRule
  if (windows !== undefined && hasWindow(given))
    place.wrong(Object.keys(given), 'windows, or limit, windowMs and burst')
}

function checked<Given, Value, Need extends 'filled' | 'optional'>({ parts }: Check<Given, Value, Need>) {
  return new Check<Given, Value, Need>({
    ...parts,
    read(given, place) {
      checkWindows(given as object, place)
      return parts.read!(given, place)
    },
  })
}

const subject = option.either(option.off(), checked(option.shape(rule)))

/** Milliseconds for which a request waits for its count at most: a silent store would make all of them wait. */
export const deadline = 250

const store = option.either(
  option.oneOf('memory'),
  option.value<RateLimitStore>('a store ({ hit })', isStore),
  inRedis(redisStore({ prefix: 'rate-limit', timeout: deadline })),
)

export const rateLimitOptions = checked(
  option.shape({ ...rule, subject: subject.default(false), store: store.default('memory') }),
).typed<RateLimitOptions>()

export type RateLimitSettings = SettingsOf<typeof rateLimitOptions>

/** A limit with all defaults filled in. Whether it is for an address or a subject, its functions receive the request. */
export type Rule = { readonly [Name in keyof Required<RateLimitRule>]: RateLimitRule[Name] } & {
  readonly limit: RateLimitAmount
  readonly windowMs: number
  readonly statusCode: number
  readonly onStoreFailure: OnStoreFailure
}

/** A limit of a route. One that only has another cost `sharesCount`: it takes that from the limit of the server. */
export type OwnLimit = false | { readonly rule: Rule; readonly sharesCount: boolean }

const ofAddress = option.overrides(option.shape({ ...rule, subject: option.value(subject.takes).guard() }))
const ofSubject = option.overrides(option.shape(rule))

/** The limits of one route, `undefined` where it has none of its own: missing options are taken from the server, and so is the store, always. */
export function rateLimitOfRoute(
  given: unknown,
  place: OptionPlace,
  { settings }: { readonly settings: RateLimitSettings },
): { readonly address: OwnLimit | undefined; readonly subject: OwnLimit | undefined } {
  if (given === false) return { address: false, subject: false }
  const read = ofAddress(given, place, { settings })
  const { subject: own, ...rest } = Object(given) as RouteRateLimit
  const base = settings.subject || undefined
  const forSubject = () =>
    own && ofSubject(own, place.in('subject'), { settings: base ?? option.shape(rule).read(undefined, place) })
  return {
    address: own !== undefined && Object.keys(rest).length === 0 ? undefined : ownLimit(rest, read, place, true),
    subject: own === undefined ? undefined : ownLimit(own, forSubject(), place.in('subject'), base !== undefined),
  }
}

function ownLimit(
  written: RateLimitRule<never> | false,
  read: unknown,
  place: OptionPlace,
  hasBase: boolean,
): OwnLimit {
  if (!written || !read) return false
  checkWindows(written, place)
  const names = Object.keys(written)
  return {
    // A window of its own replaces those of the server.
    rule: { ...(read as Rule), ...(hasWindow(written) && { windows: undefined }) },
    sharesCount: hasBase && names.length > 0 && names.every((name) => name === 'cost'),
  }
}
