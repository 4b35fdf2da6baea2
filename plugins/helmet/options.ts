import type { HelmetOptions as LibraryOptions } from 'helmet'
import type { Request, Response } from '../../kernel/index.ts'
import { type Check, option } from '../toolkit/options/index.ts'
import { type HeaderSets, headersOf, noHeaders } from './headers.ts'

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

/** One header: on, off, or an object of members whose values the package checks itself. */
const header = (...members: string[]) => {
  const values = Object.fromEntries(members.map((name) => [name, option.value<unknown>('a value')]))
  // Their types are those of the package.
  return option.either(option.flag(), option.shape(values) as Check<object, object, 'filled'>)
}

const flag = option.flag()

const names = {
  contentSecurityPolicy: header('useDefaults', 'directives', 'reportOnly'),
  crossOriginEmbedderPolicy: header('policy'),
  crossOriginOpenerPolicy: header('policy'),
  crossOriginResourcePolicy: header('policy'),
  originAgentCluster: flag,
  referrerPolicy: header('policy'),
  strictTransportSecurity: header('maxAge', 'includeSubDomains', 'preload'),
  hsts: header('maxAge', 'includeSubDomains', 'preload'),
  xContentTypeOptions: flag,
  noSniff: flag,
  xDnsPrefetchControl: header('allow'),
  dnsPrefetchControl: header('allow'),
  xDownloadOptions: flag,
  ieNoOpen: flag,
  xFrameOptions: header('action'),
  frameguard: header('action'),
  xPermittedCrossDomainPolicies: header('permittedPolicies'),
  permittedCrossDomainPolicies: header('permittedPolicies'),
  xPoweredBy: flag,
  hidePoweredBy: flag,
  xXssProtection: flag,
  xssFilter: flag,
} satisfies Record<keyof HelmetOptions, unknown>

/** Refuses what the package would pass over or only warn about, and runs it for the rest. */
export const helmetOptions = option
  .shape(names)
  .into((given, place): HeaderSets => {
    try {
      return headersOf(whatIsGiven(given) as HelmetOptions)
    } catch (error) {
      place.problem(`the option "${place.path}" cannot be used: ${(error as Error).message}`)
      return noHeaders
    }
  })
  .typed<HelmetOptions>()

/** For one route, in place of the options of the server; `false`: no headers. */
export const helmetOfRoute = option.either(option.off(), helmetOptions)

/** Without what was left out: for the package a name counts, whatever stands there. */
function whatIsGiven(headers: object): object {
  return mapped(headers, (value) => (typeof value === 'object' ? mapped(value as object, (one) => one) : value))
}

function mapped(from: object, map: (value: unknown) => unknown): object {
  const given = Object.entries(from).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, map(value)]))
}
