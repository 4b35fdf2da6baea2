import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as http } from 'node:http'
import { request as https } from 'node:https'
import { isIP } from 'node:net'
import { inNetworks } from '../shared/http/network.ts'
import type { WebhookRequest, WebhookResponse } from './options.ts'

/** Characters of a response that its error repeats. */
const maxShown = 200

/**
 * Addresses of no public server: the special-purpose registries of IANA (RFC 6890), and multicast. The ranges of IPv6 that embed an IPv4 address
 * (6to4, Teredo, NAT64) are among them: they would reach what the list of IPv4 refuses.
 */
const isSpecial = inNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/3'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
const isGlobalUnicast = inNetworks(['0.0.0.0/0', '2000::/3'])

/**
 * Makes what posts to public addresses, and to those of the ranges; they resolve with the status of the response, and its beginning. Redirects are not followed.
 *
 * The name is resolved once, and the connection made to the addresses that were checked: a name whose address changes between the check and the
 * connection reaches nothing else.
 *
 * @throws (as a rejection) Error with what is wrong with the address, or the failure of the connection.
 */
export function poster(allowed: readonly string[]): (request: WebhookRequest) => Promise<WebhookResponse> {
  const isAllowed = inNetworks(allowed)
  return (request) => post(request, isAllowed)
}

async function post(request: WebhookRequest, isAllowed: (address: string) => boolean): Promise<WebhookResponse> {
  const { url, signal } = request
  const target = URL.canParse(url) ? new URL(url) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
    throw new Error('its address is not one of https without user name and password')
  // A URL has an IPv6 address in brackets.
  const name = target.hostname.replace(/^\[|\]$/g, '')
  const addresses: LookupAddress[] = await lookup(name, { all: true })
  signal.throwIfAborted()
  let failure: unknown
  for (const { address } of addresses) {
    if (!isAllowed(address)) {
      // The message does not contain the address: it would show who may choose it which names exist in this network.
      if (isSpecial(address) || !isGlobalUnicast(address)) throw new Error(`"${name}" is not a public address`)
      if (target.protocol !== 'https:') throw new Error('its address is not one of https')
    }
    try {
      return await postTo(address, name, target, request)
    } catch (error) {
      failure = error
      if (signal.aborted || !isUnreached(error)) break
    }
  }
  throw failure
}

/** Whether nothing was sent, so that another address of the same name may be tried. */
const isUnreached = (error: unknown) =>
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(String((error as { code?: unknown }).code))

function postTo(
  host: string,
  name: string,
  { protocol, port, pathname, search, host: authority }: URL,
  { headers, body, signal }: WebhookRequest,
): Promise<WebhookResponse> {
  return new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? https : http
    const options = {
      ...{ host, port: port || undefined, path: pathname + search, method: 'POST', signal, agent: false },
      // The certificate has to be that of the name.
      ...(isIP(name) === 0 && protocol === 'https:' && { servername: name }),
      headers: { ...headers, host: authority, 'content-length': Buffer.byteLength(body) },
    }
    const req = send(options, (res) => {
      let text = ''
      const done = () => {
        resolve({ status: res.statusCode!, text: text.slice(0, maxShown) })
        req.destroy()
      }
      res.setEncoding('utf8')
      res.on('data', (chunk: string) => {
        text += chunk
        if (text.length >= maxShown) done()
      })
      res.on('end', done)
      res.on('error', reject)
    })
    req.on('error', reject)
    req.end(body)
  })
}
