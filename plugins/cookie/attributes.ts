import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import type { SetCookieOptions } from './set-cookie.ts'

type Check = readonly [holds: (value: unknown) => boolean, takes: string]

const flag: Check = [(value) => typeof value === 'boolean', 'true or false']
const oneOf = (...names: string[]): Check => [
  (value) => typeof value === 'string' && names.includes(value.toLowerCase()),
  names.map((name) => `"${name}"`).join(', '),
]
const sameSite = oneOf('strict', 'lax', 'none')
const domain = /^\.?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

const checks: { readonly [Name in keyof Required<SetCookieOptions>]: Check } = {
  signed: flag,
  // Above 2^53 a number would be written with an exponent, which is no Max-Age.
  maxAge: [Number.isSafeInteger, 'a whole number of seconds'],
  expires: [(value) => value instanceof Date && Number.isFinite(value.getTime()), 'a valid Date'],
  path: [
    (value) => typeof value === 'string' && /^\/[\x20-\x3a\x3c-\x7e]*$/.test(value),
    'a path that begins with "/", printable ASCII without ";"',
  ],
  domain: [(value) => typeof value === 'string' && domain.test(value), 'a host name'],
  secure: flag,
  httpOnly: flag,
  sameSite: [(value) => typeof value === 'boolean' || sameSite[0](value), `${sameSite[1]}, true or false`],
  priority: oneOf('low', 'medium', 'high'),
  partitioned: flag,
}

const names = Object.keys(checks) as (keyof SetCookieOptions)[]

/** Checks the attributes of a cookie: none that is unknown, none of another type than it takes. */
export function checkAttributes(option: string, given: SetCookieOptions, known: readonly string[] = names): void {
  checkOptions(option, given, known)
  for (const name of names) {
    const value = given[name]
    if (value === undefined) continue
    const [holds, takes] = checks[name]
    if (!holds(value)) throw OptionError(`${option}.${name}`, quoted(value), takes)
  }
}

/** Attributes with defaults for those that are left out; how long a cookie lives is one choice, not two. */
export function withDefaults(given: SetCookieOptions, defaults: SetCookieOptions): SetCookieOptions {
  const all: Record<string, unknown> = {}
  for (const name of names) all[name] = given[name] === undefined ? defaults[name] : given[name]
  if (given.expires !== undefined) all.maxAge = given.maxAge
  if (given.maxAge !== undefined) all.expires = given.expires
  return all
}
