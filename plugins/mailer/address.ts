import { nearest } from '../../kernel/index.ts'
import { MailAddressError } from './errors.ts'
import { control } from './header.ts'

/** An address, bare or as `Ada <ada@example.org>`. */
export type EmailAddress = `${string}@${string}`

/** An address with the name that is shown for it. */
export interface NamedAddress<Address extends string = string> {
  /** The name that mail programs show. */
  readonly name?: string
  /** The address alone: `shop@example.org`. */
  readonly address: Address
}

/** One recipient or several. A string from a schema, a database or the environment is checked when the call is made. */
export type Recipients = string | NamedAddress | readonly (string | NamedAddress)[]

/** What addresses are compared with: an invalid literal does not compile. The first branch is never taken; it serves to infer `Given`. */
export type CheckedAddresses<Given> = [Given] extends [never]
  ? Given
  : Given extends string
    ? CheckedAddress<Given>
    : Given extends readonly unknown[]
      ? { readonly [Index in keyof Given]: CheckedAddresses<Given[Index]> }
      : Given extends { readonly address: infer Address extends string }
        ? NamedAddress<CheckedAddress<Address>>
        : NamedAddress

type CheckedAddress<Given extends string> = string extends Given
  ? Given
  : Given extends EmailAddress
    ? Given
    : EmailAddress

/** RFC 5321, section 4.5.3.1: 64 characters, "@", 255. */
const longestAddress = 320
const longestName = 256
const parts = ['name', 'address']

/**
 * Allows no comments, groups, routes, quoted parts or lists: the grammar of RFC 5322 has them all, and parsers that accept them
 * have sent email to unintended recipients, or recursed until the stack overflowed. Each part is a single character class,
 * so that the time grows only with the length.
 */
const local = /^[^\p{C}\p{Z}<>()[\]\\,;:@"]{1,64}$/u
const domain = /^[\p{L}\p{N}\p{M}_.-]{1,255}$/u

/** Splits an address into name and address; the message of an error does not contain the given string. */
export function addressOf(where: string, given: unknown): { name: string; address: string } {
  const { name, address } = partsOf(where, given)
  if (address.length > longestAddress) throw MailAddressError(where, `is longer than ${longestAddress} characters`)
  if (control.test(address)) throw MailAddressError(where, 'has a control character, a line break for example')
  const at = address.lastIndexOf('@')
  const host = address.slice(at + 1)
  if (at === -1 || !local.test(address.slice(0, at)) || !domain.test(host) || /^\.|\.\.|\.$/.test(host))
    throw MailAddressError(where, 'is not one plain address')
  if (name.length > longestName) throw MailAddressError(where, `has a name of more than ${longestName} characters`)
  if (control.test(name)) throw MailAddressError(where, 'has a control character in its name, a line break for example')
  return { name, address }
}

function partsOf(where: string, given: unknown): { name: string; address: string } {
  if (typeof given === 'string') {
    // Checked before anything parses the string.
    if (given.length > longestAddress + longestName + 4) throw MailAddressError(where, 'is too long')
    const open = given.endsWith('>') ? given.lastIndexOf('<') : -1
    if (open === -1) return { name: '', address: given }
    const name = given.slice(0, open).trim()
    const isQuoted = name.length > 1 && name.startsWith('"') && name.endsWith('"')
    return { name: isQuoted ? name.slice(1, -1) : name, address: given.slice(open + 1, -1) }
  }
  const wrong = Object.keys(given ?? {}).find((one) => one.length > 3 && !parts.includes(one) && nearest(one, parts))
  if (wrong !== undefined) throw MailAddressError(where, `has the unknown member "${wrong}"; it takes name and address`)
  const { name = '', address } = (given ?? {}) as { name?: unknown; address?: unknown }
  if (typeof address !== 'string' || typeof name !== 'string')
    throw MailAddressError(where, `is not a string but ${typeof given}`)
  return { name, address }
}

/** All addresses, each once. */
export function addressesOf(where: string, given: unknown): { name: string; address: string }[] {
  // `Array.from` turns holes of a list into `undefined`, which is not an address.
  return (Array.isArray(given) ? Array.from<unknown>(given) : [given]).map((one) => addressOf(where, one))
}
