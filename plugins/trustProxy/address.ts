import { isIPv4, isIPv6 } from 'node:net'

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The canonical spelling of an address, `undefined` for an invalid one: lower case, shortest form (RFC 5952), an IPv4 address
 * inside IPv6 as IPv4, no zone.
 *
 * Two spellings of one address would count as two clients for a limit, and could bypass a list of addresses.
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

/** The address in one entry of a forwarding header: bare, in brackets, or with a port. */
export function addressOfEntry(entry: string): string | undefined {
  if (entry.charCodeAt(0) === 91 /* [ */) {
    const end = entry.indexOf(']')
    return /^(?::\d{1,5})?$/.test(entry.slice(end + 1)) ? canonicalAddress(entry.slice(1, end)) : undefined
  }
  const colon = entry.indexOf(':')
  // More than one colon without brackets means an IPv6 address, which then has no port.
  if (colon === -1 || entry.indexOf(':', colon + 1) !== -1) return canonicalAddress(entry)
  return /^:\d{1,5}$/.test(entry.slice(colon)) ? canonicalAddress(entry.slice(0, colon)) : undefined
}
