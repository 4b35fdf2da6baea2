import { BlockList, isIP } from 'node:net'
import { quoted } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../toolkit/options/index.ts'
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

const takes =
  'addresses and ranges in a list (["10.0.0.0/8"]), the number of proxies in front of the server (1 to 64), or true'
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}
const rangeLike = `an address, a range such as "10.0.0.0/8", or ${Object.keys(named).join(', ')}`

/** Strict: of octal, hexadecimal and short forms each proxy has its own idea. */
const range = option
  .name()
  .says(rangeLike)
  .into((given, place) => {
    if (!isRange(given)) place.wrong(quoted(given), rangeLike)
    return given
  })

export const trustProxyOptions = option
  .shape({
    trustedProxies: option
      .either(option.oneOf(true), option.int({ min: 1, max: maxHops }), option.list(range))
      .says(takes)
      .required(),
    header: option.oneOf('x-forwarded', 'forwarded').default('x-forwarded'),
  })
  .typed<TrustProxyOptions>()

/** Whether an address is a trusted proxy; `hop` counts from 0, the direct peer. */
export type Trust = (address: string, hop: number) => boolean

export function trustOf(proxies: SettingsOf<typeof trustProxyOptions>['trustedProxies']): Trust {
  if (proxies === true) return () => true
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  // An IPv4 address is in it as one inside IPv6, too.
  const trusted = new BlockList()
  for (const range of proxies.flatMap((one) => (Object.hasOwn(named, one) ? named[one]! : [one]))) {
    const [address = '', prefix] = range.split('/')
    const family = familyOf(address)
    if (prefix === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(prefix), family)
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

function isRange(text: string): boolean {
  if (Object.hasOwn(named, text)) return true
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  if (bits === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits)
}
