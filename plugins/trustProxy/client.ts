import type { RawRequest, Rewrite } from '../../kernel/index.ts'
import { canonicalAddress } from '../shared/http/network.ts'
import { parseForwarded } from './forwarded.ts'
import { fromRight, maxHops, memberAt } from './list.ts'
import type { Trust } from './options.ts'

const secure: Readonly<Record<string, boolean>> = { http: false, https: true, ws: false, wss: true }

function isSecure(protocol: string | undefined): boolean | undefined {
  const name = protocol?.toLowerCase()
  return name !== undefined && Object.hasOwn(secure, name) ? secure[name] : undefined
}

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
    secure: isSecure(memberAt(raw.header('x-forwarded-proto'), hops)),
    host: memberAt(raw.header('x-forwarded-host'), hops),
  }
}

/** The same from `Forwarded`; protocol and host come from the element of the farthest trusted proxy. */
export function fromForwarded(raw: RawRequest, peer: string, trusts: Trust): Rewrite {
  const elements = parseForwarded(raw.header('forwarded')).slice(0, maxHops)
  const { address, hops } = walk(
    peer,
    elements.map((element) => element.for ?? ''),
    trusts,
  )
  const element = elements[Math.min(hops, elements.length) - 1]
  return { ip: address, secure: isSecure(element?.proto), host: element?.host }
}
