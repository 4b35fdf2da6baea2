import { described, quoted, type Request } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { OriginError, type OriginOption, type OriginRule, originRule } from './origin.ts'

/** Options for cross-origin resource sharing, with the names of the `cors` package. */
export interface CorsOptions {
  /**
   * The origins that may read the responses: `'*'`, an origin, a RegExp (which should be anchored), a list, or a function. Default: none.
   * Strings are compared exactly.
   */
  origin?: OriginOption<Request>
  /** The methods that pages of other origins may use. Default `GET, HEAD, PUT, PATCH, POST, DELETE`. */
  methods?: string | readonly string[]
  /** Allowed request headers. Default: those that the preflight asks for. */
  allowedHeaders?: string | readonly string[]
  /** Response headers that scripts may read, in addition to the safelisted ones. */
  exposedHeaders?: string | readonly string[]
  /** Whether requests may carry cookies and credentials; needs a named origin. Default false. */
  credentials?: boolean
  /** Seconds for which a browser may cache the response to a preflight. */
  maxAge?: number
  /** Whether preflights are passed on to the routes, with the headers set. Default false. */
  preflightContinue?: boolean
  /** The status of the response to a preflight. Default 204. */
  optionsSuccessStatus?: number
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Turns a list, or a string with commas, into the value of a header. */
const names = option.custom<string | readonly string[], string>(
  'names in a list, or separated by commas',
  (given, place) => {
    // Spread, because `every` skips holes.
    const members: unknown =
      typeof given === 'string' ? given.split(',').map((one) => one.trim()) : Array.isArray(given) ? [...given] : given
    if (Array.isArray(members) && members.every((one) => typeof one === 'string' && token.test(one))) {
      return members.join(', ')
    }
    return void place.wrong(quoted(given), 'names in a list, or separated by commas')
  },
)

const origin = option.custom<OriginOption<Request>, OriginRule<Request>>(
  `'*', an origin, a RegExp, a list of them, or a function`,
  (given, place) => {
    try {
      return originRule(given as OriginOption<Request>)
    } catch (error) {
      if (!(error instanceof OriginError)) throw error
      // An origin is an address, and one with a user is invalid and may contain a password, which the message must not show.
      const isText = [given].flat().every((one) => typeof one === 'string' && /^[^@\s]{0,200}$/.test(one))
      const text = isText ? JSON.stringify(given) : ''
      return void place.wrong(isText && text.length <= 500 ? described(text) : given, error.message)
    }
  },
)

export const corsOptions = option
  .shape({
    origin: origin.default(false),
    methods: names.default('GET, HEAD, PUT, PATCH, POST, DELETE'),
    allowedHeaders: names,
    exposedHeaders: names,
    credentials: option.flag().default(false),
    maxAge: option.int({ min: 0, unit: 'seconds' }),
    preflightContinue: option.flag().default(false),
    optionsSuccessStatus: option.int({ min: 200, max: 299 }).says('a status from 200 to 299').default(204),
  })
  .into(({ origin: rule, maxAge, ...given }, place) => {
    if (given.credentials && rule.kind === 'any') {
      place.in('credentials').wrong(true, `a named origin together with it: browsers refuse '*' with credentials`)
    }
    const seconds = maxAge === undefined ? undefined : String(maxAge)
    return { ...given, rule, methods: given.methods.toUpperCase(), maxAge: seconds }
  })
  .typed<CorsOptions>()

/** The parsed options, as header values. */
export type CorsPolicy = SettingsOf<typeof corsOptions>
