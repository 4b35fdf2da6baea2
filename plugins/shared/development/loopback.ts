import { isIP } from 'node:net'
import type { RawRequest } from '../../../kernel/index.ts'

/** Headers that reveal a proxy: every request that it forwards comes from the address of the proxy. */
const proxyHeaders =
  /^(?:forwarded|via|cdn-loop|x-forwarded|x-(?:forwarded|original|envoy)-.*|x-real-ip|x-(?:cluster-)?client-ip|true-client-ip|(?:cf|do)-connecting-ip|(?:fastly|fly)-client-ip)$/

/** Whether a proxy has forwarded a request. */
export const isForwarded = (raw: RawRequest): boolean =>
  Object.keys(raw.headers()).some((name) => proxyHeaders.test(name))

/** Whether an address is one of this machine. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1'
}

/**
 * Whether a client used a name of this machine. A page in a browser on this machine can reach it through a domain of its own that is resolved
 * to 127.0.0.1 (DNS rebinding), and could read the responses as if from its own origin.
 */
export function isLoopbackHost(host = ''): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase()
  if (name.startsWith('[')) return isLoopback(name.slice(1, -1))
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}
