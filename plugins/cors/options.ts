import { checkOptions, described, OptionError, quoted, type Request } from '../../kernel/index.ts'
import { OriginError, type OriginOption, type OriginRule, originRule } from './origin.ts'

/** Options of cross-origin resource sharing, named as in the `cors` package. */
export interface CorsOptions {
  /**
   * Who may read the answers: `'*'`, an origin, a RegExp (anchor it), a list, or a function. Default: nobody. Strings
   * are compared exactly.
   */
  origin?: OriginOption<Request>
  /** Default `GET, HEAD, PUT, PATCH, POST, DELETE`. */
  methods?: string | readonly string[]
  /** Request headers that are allowed. Default: those the preflight asks for. */
  allowedHeaders?: string | readonly string[]
  /** Response headers that scripts may read beyond the safe ones. */
  exposedHeaders?: string | readonly string[]
  /** Whether requests may carry cookies and credentials; needs a named origin. Default false. */
  credentials?: boolean
  /** Seconds for which a browser may remember a preflight. */
  maxAge?: number
  /** Hand preflights on to the routes, with the headers set. Default false. */
  preflightContinue?: boolean
  /** The status of the answer to a preflight. Default 204. */
  optionsSuccessStatus?: number
}

/** The options as header values, checked. */
export interface CorsPolicy {
  readonly rule: OriginRule<Request>
  readonly credentials: boolean
  readonly methods: string
  readonly allowedHeaders: string | undefined
  readonly exposedHeaders: string | undefined
  readonly maxAge: string | undefined
  readonly preflightContinue: boolean
  readonly preflightStatus: number
}

const names = [
  'origin',
  'methods',
  'allowedHeaders',
  'exposedHeaders',
  'credentials',
  'maxAge',
  'preflightContinue',
  'optionsSuccessStatus',
]

export function policyOf(options: CorsOptions = {}): CorsPolicy {
  checkOptions('cors', options, names)
  const { maxAge, optionsSuccessStatus: status = 204 } = options
  const rule = ruleOf(options.origin)
  const credentials = flag('credentials', options.credentials)
  if (credentials && rule.kind === 'any') {
    throw OptionError('cors.credentials', true, `a named origin beside it: browsers refuse '*' with credentials`)
  }
  if (maxAge !== undefined && (!Number.isInteger(maxAge) || maxAge < 0)) {
    throw OptionError('cors.maxAge', quoted(maxAge), 'a whole number of seconds, 0 or more')
  }
  if (!Number.isInteger(status) || status < 200 || status > 299) {
    throw OptionError('cors.optionsSuccessStatus', quoted(status), 'a status from 200 to 299')
  }
  return {
    rule,
    credentials,
    methods: (list('methods', options.methods) ?? 'GET, HEAD, PUT, PATCH, POST, DELETE').toUpperCase(),
    allowedHeaders: list('allowedHeaders', options.allowedHeaders),
    exposedHeaders: list('exposedHeaders', options.exposedHeaders),
    maxAge: maxAge === undefined ? undefined : String(maxAge),
    preflightContinue: flag('preflightContinue', options.preflightContinue),
    preflightStatus: status,
  }
}

function ruleOf(origin: CorsOptions['origin']): OriginRule<Request> {
  try {
    return originRule(origin)
  } catch (error) {
    if (!(error instanceof OriginError)) throw error
    // An origin is an address: one with a user in it is none, and may have a password.
    const isText = [origin].flat().every((one) => typeof one === 'string' && /^[^@\s]{0,200}$/.test(one))
    throw OptionError('cors.origin', isText ? described(JSON.stringify(origin)) : origin, error.message)
  }
}

function flag(name: string, value: boolean | undefined): boolean {
  if (value !== undefined && typeof value !== 'boolean')
    throw OptionError(`cors.${name}`, quoted(value), 'true or false')
  return value ?? false
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

function list(name: string, value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined) return undefined
  const members = typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value
  if (!Array.isArray(members) || members.some((one) => typeof one !== 'string' || !token.test(one))) {
    throw OptionError(`cors.${name}`, quoted(value), 'names in a list, or separated by commas')
  }
  return members.join(', ')
}
