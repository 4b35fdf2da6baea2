import type { RawRequest, Rewrite } from '../../kernel/index.ts'
import { canonicalAddress } from '../shared/http/network.ts'

/** Whether an address is a trusted proxy; `hop` counts from 0, the direct peer. */
export type Trust = (address: string, hop: number) => boolean

/** How many entries of a list are read, from its end; a chain of proxies is never that long. */
export const maxHops = 64

/** Whether a scheme is that of a secure connection; `undefined` for any other scheme. */
const isSecure = (protocol = ''): boolean | undefined =>
  /^(?:http|ws)$/i.test(protocol) ? false : /^(?:https|wss)$/i.test(protocol) || undefined

/** The address in one entry of a forwarding header: bare, in brackets, or with a port. */
function addressOfEntry(entry: string): string | undefined {
  if (entry.charCodeAt(0) === 91 /* [ */) {
    const end = entry.indexOf(']')
    return /^(?::\d{1,5})?$/.test(entry.slice(end + 1)) ? canonicalAddress(entry.slice(1, end)) : undefined
  }
  const colon = entry.indexOf(':')
  // More than one colon without brackets means an IPv6 address, which then has no port.
  if (colon === -1 || entry.indexOf(':', colon + 1) !== -1) return canonicalAddress(entry)
  return /^:\d{1,5}$/.test(entry.slice(colon)) ? canonicalAddress(entry.slice(0, colon)) : undefined
}

/**
 * Walks from the nearest proxy outwards to the first address that is not a trusted proxy, which is the client. An entry that
 * is not an address ends the walk, and the proxy that wrote it counts as the client.
 */
function walk(peer: string, entries: Iterable<string>, trusts: Trust): { address: string; hops: number } {
  let address = peer
  // The peer is trusted, since this is not called for others.
  let hops = 1
  for (const entry of entries) {
    const found = addressOfEntry(entry)
    if (found === undefined) break
    address = found
    if (!trusts(found, hops)) break
    hops++
  }
  return { address, hops }
}

/** The client's address, protocol and host from the `X-Forwarded-*` of a trusted peer. */
export function fromXForwarded(raw: RawRequest, peer: string, trusts: Trust): Rewrite {
  const { address, hops } = walk(peer, fromRight(raw.header('x-forwarded-for')), trusts)
  return {
    ip: address,
    secure: isSecure(reportAt([...fromRight(raw.header('x-forwarded-proto'))], hops)),
    host: reportAt([...fromRight(raw.header('x-forwarded-host'))], hops),
  }
}

/** The same from `Forwarded`; protocol and host come from the element of the farthest trusted proxy. */
export function fromForwarded(raw: RawRequest, peer: string, trusts: Trust): Rewrite {
  const elements = parseForwarded(raw.header('forwarded')).slice(0, maxHops)
  const addresses = elements.map((element) => element.for ?? '')
  const { address, hops } = walk(peer, addresses, trusts)
  const element = reportAt(elements, hops)
  return { ip: address, secure: isSecure(element?.proto), host: element?.host }
}

/**
 * The members of a comma-separated header from the right, where the nearest proxy appends; empty members do not count.
 *
 * Read backwards by hand: `split(/\s*,\s*\/)` takes seconds for 100 kB of spaces.
 */
function* fromRight(list: string | undefined): Generator<string> {
  if (list === undefined) return
  let end = list.length
  for (let seen = 0; seen < maxHops && end > 0; seen++) {
    const comma = list.lastIndexOf(',', end - 1)
    const member = list.slice(comma + 1, end).trim()
    if (member !== '') yield member
    end = comma
  }
}

/** What the proxy wrote that is `hops` steps away; if there are fewer reports, the farthest one. */
function reportAt<Report>(reports: readonly Report[], hops: number): Report | undefined {
  return reports[Math.min(hops, reports.length) - 1]
}

/** One element of a `Forwarded` header: the report of one proxy. */
interface ForwardedElement {
  for?: string
  proto?: string
  host?: string
}

/** Longer than any request head that a server accepts by default; a longer header is ignored. */
const maxLength = 16_384

// One pair of an element (RFC 7239 section 4) with its separator: a token, and a token or a quoted string, or nothing. The two
// alternatives of the value begin differently and each part ends where the next one begins, so matching takes linear time.
const pair = /[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([^\s",;]+)|"((?:[^"\\]|\\.)*)")[ \t]*)?([;,]|$)/y

/**
 * The elements of a `Forwarded` header, the nearest proxy's first. A malformed element is empty, and so are the elements
 * before it, which cannot be distinguished from a client's forgery.
 */
function parseForwarded(header: string | undefined): ForwardedElement[] {
  if (header === undefined || header.length > maxLength) return []
  let elements: ForwardedElement[] = []
  let before: string | undefined = ','
  let at = 0
  while (at < header.length) {
    pair.lastIndex = at
    const found = pair.exec(header)
    // Nothing between two commas is not an element (RFC 9110 section 5.6.1.2). One that says nothing is, and ends the walk.
    if (before === ',' && (found?.[1] !== undefined || found?.[4] === ';')) elements.unshift({})
    if (found !== null && takePair(found, elements[0]!)) {
      before = found[4]
      at += found[0].length
    } else {
      // What trusted proxies append to a client's garbage still counts: parsing continues after the next comma.
      elements = [{}]
      const comma = header.indexOf(',', at)
      before = ','
      at = comma === -1 ? header.length : comma + 1
    }
  }
  return elements
}

/** Adds a pair; returns false if the element already has the name: this is forbidden, and a proxy may have checked either of the two. */
function takePair(
  [, name = '', plain, quoted = '']: readonly (string | undefined)[],
  element: ForwardedElement,
): boolean {
  const key = name.toLowerCase()
  if (key !== 'for' && key !== 'proto' && key !== 'host') return true
  if (element[key] !== undefined) return false
  element[key] = plain ?? quoted.replace(/\\(.)/g, '$1')
  return true
}
