import { isIP } from 'node:net'
import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import { maxHops } from './list.ts'

/** Which proxies are believed, and in which headers. */
export interface TrustProxyOptions {
  /**
   * Addresses, ranges (`10.0.0.0/8`, `2001:db8::/32`) and the names `loopback`, `linklocal`, `uniquelocal`; or the number
   * of proxies in front of the server; or `true` for everybody.
   */
  trustedProxies: readonly string[] | number | true
  /** The headers that the proxies write: `X-Forwarded-*`, or `Forwarded` (RFC 7239). Default `'x-forwarded'`. */
  header?: 'x-forwarded' | 'forwarded'
}

/** The options as decisions. */
export interface ProxySettings {
  /** Whether an address is a trusted proxy; `hop` counts from 0, the direct peer. */
  readonly trusts: (address: string, hop: number) => boolean
  readonly header: 'x-forwarded' | 'forwarded'
}

const takes =
  'addresses and ranges in a list (["10.0.0.0/8"]), the number of proxies in front of the server (1 to 64), or true'
const names = ['loopback', 'linklocal', 'uniquelocal']

export async function settingsOf(options: TrustProxyOptions): Promise<ProxySettings> {
  // Without options it comes here too: `trustProxy: true` in the object form.
  const given: Partial<TrustProxyOptions> = options ?? {}
  checkOptions('trustProxy', given, ['trustedProxies', 'header'])
  const { header = 'x-forwarded', trustedProxies } = given
  if (header !== 'x-forwarded' && header !== 'forwarded') {
    throw OptionError('trustProxy.header', quoted(header), '"x-forwarded" or "forwarded"')
  }
  return { header, trusts: await trustOf(trustedProxies) }
}

async function trustOf(option: TrustProxyOptions['trustedProxies'] | undefined): Promise<ProxySettings['trusts']> {
  if (option === true) return () => true
  if (typeof option === 'number' && Number.isInteger(option) && option >= 1 && option <= maxHops) {
    return (_address, hop) => hop < option
  }
  if (!Array.isArray(option)) throw OptionError('trustProxy.trustedProxies', quoted(option), takes)
  if (option.length === 0) return () => false
  const ranges = option.map(checkRange)
  // Not on import: a server without it should not load it.
  const { compile } = await import('@fastify/proxy-addr')
  return compile(ranges)
}

/** Strict, since the library behind also reads octal, hexadecimal and short forms, of which each proxy has its own idea. */
function checkRange(range: unknown): string {
  const refuse = () => OptionError('trustProxy.trustedProxies', quoted(range), takes)
  if (typeof range !== 'string') throw refuse()
  if (names.includes(range)) return range
  const [address = '', prefix, ...rest] = range.split('/')
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  if (bits === 0 || address.includes('%') || rest.length > 0) throw refuse()
  if (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) < 1 || Number(prefix) > bits)) throw refuse()
  return range
}
