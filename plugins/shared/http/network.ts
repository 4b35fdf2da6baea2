import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { quoted } from '../../../kernel/index.ts'
import { option } from '../options/index.ts'

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The canonical spelling of an address: RFC 5952 for IPv6, IPv4 if it is a mapped one, without a zone. `undefined` for any other
 * string. Different spellings of one address would count as two clients for a limit, and could bypass a list of addresses.
 */
export function canonicalAddress(text: string): string | undefined {
  // Longer than any address; the patterns below should not process arbitrarily long input.
  if (text.length > 64) return undefined
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return undefined
  const zone = text.indexOf('%')
  // The serialiser of the URL standard writes the RFC 5952 form, in brackets.
  const address = new URL(`http://[${zone === -1 ? text : text.slice(0, zone)}]`).hostname.slice(1, -1)
  const groups = mapped.exec(address)
  if (groups === null) return address
  const [high, low] = [Number.parseInt(groups[1]!, 16), Number.parseInt(groups[2]!, 16)]
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/**
 * The network to which an address counts: an IPv4 address itself, even where it is written as IPv6, and the first 64 bits
 * of an IPv6 address. A household has a /64 or more, so limiting single addresses would be as good as no limit.
 *
 * @example
 * networkOf('::ffff:192.0.2.7') // '192.0.2.7'
 * networkOf('2001:db8:0:7::1') // '2001:db8:0:7'
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const canonical = canonicalAddress(address) ?? address
  if (!canonical.includes(':')) return canonical
  const [left = '', right = ''] = canonical.split('::')
  const [head, tail] = [left, right].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array<string>(Math.max(0, 8 - head!.length - tail!.length)).fill('0')
  return [...head!, ...zeros, ...tail!].slice(0, 4).join(':')
}

/** A range of addresses of one family. */
export interface Network {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefix: number
}

const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4')

/** Reads an address, or a range such as `10.0.0.0/8`; one of IPv4 inside IPv6 as a range of IPv4. `undefined` for an invalid range. */
export function networkIn(text: string): Network | undefined {
  const [written = '', length, ...rest] = text.split('/')
  const address = written.includes('%') ? undefined : canonicalAddress(written)
  if (address === undefined || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined
  const family = familyOf(address)
  const bits = family === 'ipv4' ? 32 : 128
  const prefix = length === undefined ? bits : Number(length) - (family === familyOf(written) ? 0 : 96)
  return prefix >= 0 && prefix <= bits ? { address, family, prefix } : undefined
}

const rangeLike = 'an address, or a range such as "10.0.0.0/8"'

/** An option for an address or a range. */
export const networkOption = option
  .name()
  .says(rangeLike)
  .into((given, place) => {
    if (networkIn(given) === undefined) place.wrong(quoted(given), rangeLike)
    return given
  })

/** Makes the test of whether an address is in one of the ranges; a string that is not an address never is. */
export function inNetworks(ranges: readonly string[]): (address: string) => boolean {
  // One list for each family: otherwise an IPv6 range wide enough to include the IPv4 addresses would include all of them.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const { address, family, prefix } = networkIn(range)!
    lists[family].addSubnet(address, prefix, family)
  }
  return (given) => {
    const address = canonicalAddress(given)
    return address !== undefined && lists[familyOf(address)].check(address, familyOf(address))
  }
}
