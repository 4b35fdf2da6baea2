import type { HelmetOptions as LibraryOptions } from 'helmet'
import { quoted, type Request, type Response } from '../../kernel/index.ts'
import { foreignOption } from '../shared/options/foreign-options.ts'
import { type Check, option } from '../shared/options/index.ts'
import { type HeaderSets, headersOf, noHeaders } from './headers.ts'

/** A source in a directive of the content security policy, or a function that returns it for each request, for instance with a nonce. */
export type CspSource = string | ((req: Request, res: Response) => string)

/** The content security policy, as in the `helmet` package. */
export interface CspOptions {
  /** Whether the directives are added to the package's default directives. Default true. */
  useDefaults?: boolean
  /** Sources by directive. `null` removes a default; for the one the package insists on, use its `dangerouslyDisableDefaultSrc`. */
  directives?: { readonly [directive: string]: null | string | symbol | Iterable<CspSource> }
  /** Whether the policy is sent as `Content-Security-Policy-Report-Only`. Default false. */
  reportOnly?: boolean
}

/** The options of the `helmet` package, with the same names and defaults; directives receive the framework's request and response. */
export type HelmetOptions = Omit<LibraryOptions, 'contentSecurityPolicy'> & {
  /** The header `Content-Security-Policy`: `false` for none, or directives that are added to the defaults of the package. */
  contentSecurityPolicy?: boolean | CspOptions
}

const flag = option.flag()
const isText = (given: unknown) => typeof given === 'string'
const words = option.value<string | readonly string[]>('a string or a list of strings', (given) =>
  Array.isArray(given) ? [...given].every(isText) : isText(given),
)
/** The directives of the content security policy, to find misspelt ones. */
const directiveNames =
  'default-src script-src script-src-elem script-src-attr style-src style-src-elem style-src-attr img-src connect-src font-src object-src media-src frame-src fenced-frame-src child-src worker-src manifest-src prefetch-src base-uri sandbox form-action frame-ancestors navigate-to report-uri report-to require-trusted-types-for trusted-types upgrade-insecure-requests block-all-mixed-content'
const directives = option
  .shape(
    {},
    foreignOption(
      directiveNames.split(' ').flatMap((name) => [name, name.replace(/-./g, (part) => part.charAt(1).toUpperCase())]),
    ),
  )
  .says('an object of sources by directive')

/** Makes the option of one header: on, off, or an object. The package checks strings and numbers, but accepts any string as a flag. */
const header = (members: option.Members) =>
  // The types of the members come from the package.
  option.either(flag, option.shape(members) as unknown as Check<object, object, 'filled'>)

const transport = header({ maxAge: option.number(), includeSubDomains: flag, preload: flag })

const names = {
  contentSecurityPolicy: header({ useDefaults: flag, directives, reportOnly: flag }),
  crossOriginEmbedderPolicy: header({ policy: words }),
  crossOriginOpenerPolicy: header({ policy: words }),
  crossOriginResourcePolicy: header({ policy: words }),
  originAgentCluster: flag,
  referrerPolicy: header({ policy: words }),
  strictTransportSecurity: transport,
  hsts: transport,
  xContentTypeOptions: flag,
  noSniff: flag,
  xDnsPrefetchControl: header({ allow: flag }),
  dnsPrefetchControl: header({ allow: flag }),
  xDownloadOptions: flag,
  ieNoOpen: flag,
  xFrameOptions: header({ action: words }),
  frameguard: header({ action: words }),
  xPermittedCrossDomainPolicies: header({ permittedPolicies: words }),
  permittedCrossDomainPolicies: header({ permittedPolicies: words }),
  xPoweredBy: flag,
  hidePoweredBy: flag,
  xXssProtection: flag,
  xssFilter: flag,
} satisfies Record<keyof HelmetOptions, unknown>

/** Refuses values that the package would ignore or only warn about, and runs the package for the rest. */
export const helmetOptions = option
  .shape(names)
  .into((given, place): HeaderSets => {
    try {
      return headersOf(whatIsGiven(given) as HelmetOptions)
    } catch (error) {
      // The message of the package contains the wrong value.
      const { message } = error as Error
      const why = quoted(message) === message ? 'the package helmet refuses one of its values' : message
      place.problem(`the option "${place.path}" cannot be used: ${why}`)
      return noHeaders
    }
  })
  .typed<HelmetOptions>()

/** The option of one route, which replaces the options of the server; `false`: no headers. */
export const helmetOfRoute = option.either(option.off(), helmetOptions)

/** Removes `undefined` members: for the package, a name alone has an effect, whatever its value. */
function whatIsGiven(headers: object): object {
  return mapped(headers, (value) => (typeof value === 'object' ? mapped(value as object, (one) => one) : value))
}

function mapped(from: object, map: (value: unknown) => unknown): object {
  const given = Object.entries(from).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, map(value)]))
}
