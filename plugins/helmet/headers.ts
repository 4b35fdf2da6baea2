import type { HelmetOptions as LibraryOptions } from 'helmet'
import { type HeaderPreset, OptionError, presetHeaders, type Request, type Response } from '../../kernel/index.ts'
import { checkHelmet, type HelmetOptions } from './options.ts'

type Library = typeof import('helmet')

/** The headers that one set of options stands for. */
export interface HeaderSet {
  /** Names in lower case of those that are the same for every request. */
  readonly names: readonly string[]
  readonly fixed: HeaderPreset
  /** Sets those that a function makes for each request. */
  readonly dynamic: ((req: Request, res: Response) => void) | undefined
}

export const noHeaders: HeaderSet = { names: [], fixed: presetHeaders({}), dynamic: undefined }

/** Runs the package once and keeps what it set, so that a request costs no more than setting it. */
export function headersOf(library: Library, options: HelmetOptions): HeaderSet {
  checkHelmet(options)
  const { contentSecurityPolicy: csp } = options
  const fixed: Record<string, string> = {}
  const recorder = {
    setHeader(name: string, value: string) {
      fixed[name.toLowerCase()] = value
    },
    // The one header that it removes, `X-Powered-By`, is one that nothing here sets.
    removeHeader() {},
  }
  try {
    const directives = typeof csp === 'object' ? listed(csp.directives ?? {}) : {}
    const isDynamic = Object.values(directives).some((sources) => Array.isArray(sources) && sources.some(isFunction))
    const given = isDynamic ? { ...options, contentSecurityPolicy: false } : options
    // Its middlewares use what the recorder has, and look at the request only where a directive is a function.
    library.default(given as LibraryOptions)({} as never, recorder as never, raise)
    const dynamic = isDynamic ? dynamicPolicy(library, { ...(csp as object), directives }) : undefined
    return { names: Object.keys(fixed), fixed: presetHeaders(fixed), dynamic }
  } catch (error) {
    throw Object.assign(OptionError('helmet', 'not usable', String((error as Error).message)), { cause: error })
  }
}

/** Every iterable as an array, since some can be read only once. */
function listed(directives: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(directives).map(([name, sources]: [string, unknown]) => {
      const isIterable = typeof sources === 'object' && sources !== null
      return [name, isIterable ? [...(sources as Iterable<unknown>)] : sources]
    }),
  )
}

const isFunction = (value: unknown) => typeof value === 'function'

function dynamicPolicy(library: Library, policy: object): HeaderSet['dynamic'] {
  const middleware = library.contentSecurityPolicy(policy)
  // What it calls on our response, `setHeader`, is the same.
  return (req, res) => middleware(req as never, res as never, raise)
}

function raise(error?: unknown): void {
  if (error !== undefined) throw error
}
