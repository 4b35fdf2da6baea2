import { optionNames } from '../../kernel/index.ts'
import { cookieAttributes } from '../shared/http/cookie-attributes.ts'
import { option } from '../shared/options/index.ts'
import type { SetCookieOptions } from './set-cookie.ts'

const members = {
  signed: option.flag(),
  // An integer up to 2^53: much larger numbers would be written with an exponent, which is not a valid Max-Age.
  maxAge: option.int({ unit: 'seconds' }),
  expires: option.value<Date>('a valid Date', (given) => given instanceof Date && Number.isFinite(given.getTime())),
  ...cookieAttributes,
}

export const attributes = option.shape(members).typed<SetCookieOptions>()

/**
 * Checks and returns the attributes given to a call.
 *
 * @throws OptionError for an unknown attribute or one of the wrong type.
 */
export function attributesOf(call: string, given: SetCookieOptions): SetCookieOptions {
  // Parsing takes 2.8 µs, for the sake of good messages; checking whether all attributes are valid takes 0.6.
  return isFine(given) ? given : attributes.parse(given, call)
}

function isFine(given: SetCookieOptions): boolean {
  if (typeof given !== 'object' || given === null) return false
  return optionNames(given).every((name) => {
    if (!Object.hasOwn(members, name)) return false
    const value = given[name as keyof SetCookieOptions]
    return value === undefined || members[name as keyof SetCookieOptions].parts.fits(value)
  })
}

const names = Object.keys(members) as (keyof SetCookieOptions)[]

/** Fills in the defaults of omitted attributes; `maxAge` and `expires` are one choice, not two. */
export function withDefaults(given: SetCookieOptions, defaults: SetCookieOptions): SetCookieOptions {
  const all: Record<string, unknown> = {}
  for (const name of names) all[name] = given[name] === undefined ? defaults[name] : given[name]
  if (given.expires !== undefined) all.maxAge = given.maxAge
  if (given.maxAge !== undefined) all.expires = given.expires
  return all
}
