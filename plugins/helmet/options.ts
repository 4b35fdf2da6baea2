import type { HelmetOptions as LibraryOptions } from 'helmet'
import { checkOptions, OptionError, quoted, type Request, type Response } from '../../kernel/index.ts'

/** A source in a directive of the content security policy, or a function that makes it for each request: a nonce. */
export type CspSource = string | ((req: Request, res: Response) => string)

/** The content security policy, as in the `helmet` package. */
export interface CspOptions {
  /** Whether the directives are added to those of the package. Default true. */
  useDefaults?: boolean
  /** Sources by directive; `null` leaves one of the defaults out, the package's `dangerouslyDisableDefaultSrc` the one that it insists on. */
  directives?: { readonly [directive: string]: null | string | symbol | Iterable<CspSource> }
  /** Send it as `Content-Security-Policy-Report-Only`. Default false. */
  reportOnly?: boolean
}

/** The options of the `helmet` package, names and defaults alike; directives get the framework's request and response. */
export type HelmetOptions = Omit<LibraryOptions, 'contentSecurityPolicy'> & {
  contentSecurityPolicy?: boolean | CspOptions
}

const settings = {
  contentSecurityPolicy: ['useDefaults', 'directives', 'reportOnly'],
  crossOriginEmbedderPolicy: ['policy'],
  crossOriginOpenerPolicy: ['policy'],
  crossOriginResourcePolicy: ['policy'],
  originAgentCluster: [],
  referrerPolicy: ['policy'],
  strictTransportSecurity: ['maxAge', 'includeSubDomains', 'preload'],
  hsts: ['maxAge', 'includeSubDomains', 'preload'],
  xContentTypeOptions: [],
  noSniff: [],
  xDnsPrefetchControl: ['allow'],
  dnsPrefetchControl: ['allow'],
  xDownloadOptions: [],
  ieNoOpen: [],
  xFrameOptions: ['action'],
  frameguard: ['action'],
  xPermittedCrossDomainPolicies: ['permittedPolicies'],
  permittedCrossDomainPolicies: ['permittedPolicies'],
  xPoweredBy: [],
  hidePoweredBy: [],
  xXssProtection: [],
  xssFilter: [],
} satisfies Record<keyof HelmetOptions, readonly string[]>

/** Refuses what the package would pass over or only warn about; it checks the values itself. */
export function checkHelmet(options: HelmetOptions): void {
  checkOptions('helmet', options, Object.keys(settings))
  for (const [name, known] of Object.entries(settings)) {
    const value: unknown = options[name as keyof HelmetOptions]
    if (value === undefined || typeof value === 'boolean') continue
    if (known.length === 0) throw OptionError(`helmet.${name}`, quoted(value), 'true or false')
    if (typeof value !== 'object' || value === null) {
      throw OptionError(`helmet.${name}`, quoted(value), `true, false or an object with ${known.join(', ')}`)
    }
    checkOptions(`helmet.${name}`, value, known)
  }
}
