// Not loaded by name with the first options: a bundle would not contain it.
import * as library from 'helmet'
import { type HeaderPreset, presetHeaders, type Request, type Response } from '../../kernel/index.ts'

/** The headers that one set of options produces, by the scheme of the request. */
export interface HeaderSets {
  readonly http: HeaderSet
  readonly https: HeaderSet
}

/** The headers for one scheme. */
interface HeaderSet {
  /** The names of all headers, in lower case. */
  readonly names: readonly string[]
  readonly fixed: HeaderPreset
  /** Sets the headers that a function makes for each request. */
  readonly dynamic: ((req: Request, res: Response) => void) | undefined
}

const none: HeaderSet = { names: [], fixed: presetHeaders({}), dynamic: undefined }
export const noHeaders: HeaderSets = { http: none, https: none }

/**
 * Runs the package once and keeps the headers that it set, so that a request only has to copy them.
 *
 * @throws the package's own error for an invalid value.
 */
export function headersOf(options: { readonly contentSecurityPolicy?: PolicyOptions }): HeaderSets {
  const { contentSecurityPolicy: csp = true } = options
  const policy = typeof csp === 'object' ? { ...csp, directives: listed(csp.directives ?? {}) } : csp
  return {
    http: setOf({ ...options, contentSecurityPolicy: withoutUpgrade(policy) }),
    https: setOf({ ...options, contentSecurityPolicy: policy }),
  }
}

type PolicyOptions = boolean | { readonly useDefaults?: boolean; readonly directives?: object }
type Policy = boolean | { readonly useDefaults?: boolean; readonly directives: Record<string, unknown> }

const upgrade = 'upgrade-insecure-requests'

/**
 * Removes the directive, one of the package's defaults, with which a browser requests all parts of a page over https: a page loaded over
 * http would have no scripts or styles. Options that name the directive keep it on every response.
 */
function withoutUpgrade(policy: Policy): Policy {
  const { useDefaults = true, directives } = typeof policy === 'object' ? policy : { directives: {} }
  if (policy === false || !useDefaults || upgrade in directives || 'upgradeInsecureRequests' in directives)
    return policy
  return { ...(policy as object), directives: { ...directives, [upgrade]: null } }
}

function setOf(options: object & { readonly contentSecurityPolicy: Policy }): HeaderSet {
  const { contentSecurityPolicy: policy } = options
  const fixed: Record<string, string> = {}
  const recorder = {
    setHeader(name: string, value: string) {
      fixed[name.toLowerCase()] = value
    },
    // The package only removes the header `X-Powered-By`, which is never set here.
    removeHeader() {},
  }
  const directives = typeof policy === 'object' ? Object.values(policy.directives) : []
  const isDynamic = directives.some(
    (sources) => Array.isArray(sources) && sources.some((one) => typeof one === 'function'),
  )
  const given = isDynamic ? { ...options, contentSecurityPolicy: false } : options
  // The package's middlewares use only these members of the response, and read the request only if a directive is a function.
  library.default(given as library.HelmetOptions)({} as never, recorder as never, raise)
  const names = Object.keys(fixed)
  if (!isDynamic) return { names, fixed: presetHeaders(fixed), dynamic: undefined }
  const { reportOnly } = policy as { readonly reportOnly?: boolean }
  names.push(`content-security-policy${reportOnly ? '-report-only' : ''}`)
  const middleware = library.contentSecurityPolicy(policy as object)
  // `setHeader`, the only member of the response that it calls, works in the same way.
  return { names, fixed: presetHeaders(fixed), dynamic: (req, res) => middleware(req as never, res as never, raise) }
}

/** Turns every iterable into an array, since some can be read only once, and the symbol of another copy of the package into this one's. */
function listed(directives: object): Record<string, unknown> {
  const { dangerouslyDisableDefaultSrc: disable } = library.contentSecurityPolicy
  return Object.fromEntries(
    Object.entries(directives).map(([name, sources]: [string, unknown]) => {
      if (typeof sources === 'symbol') return [name, sources.description === disable.description ? disable : sources]
      const isIterable = typeof sources === 'object' && sources !== null
      return [name, isIterable ? [...(sources as Iterable<unknown>)] : sources]
    }),
  )
}

function raise(error?: unknown): void {
  if (error !== undefined) throw error
}
