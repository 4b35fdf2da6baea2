import { quoted } from '../../kernel/index.ts'
import { inNetworks, networkIn } from '../shared/http/network.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { maxHops, type Trust } from './client.ts'

/** Which proxies are trusted, and in which headers. */
export interface TrustProxyOptions {
  /**
   * Addresses, ranges (`10.0.0.0/8`, `2001:db8::/32`) and the names `loopback`, `linklocal`, `uniquelocal`; or the number
   * of proxies before the server; or `true` for all peers.
   */
  trustedProxies: readonly string[] | number | true
  /** The headers that the proxies write: `X-Forwarded-*`, or `Forwarded` (RFC 7239). Default `'x-forwarded'`. */
  header?: 'x-forwarded' | 'forwarded'
}

const takes =
  'addresses and ranges in a list (["10.0.0.0/8"]), the number of proxies before the server (1 to 64), or true'
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}
const rangeLike = `an address, a range such as "10.0.0.0/8", or ${Object.keys(named).join(', ')}`

/** Parsed strictly: proxies interpret octal, hexadecimal and short forms differently. */
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

export function trustOf(proxies: SettingsOf<typeof trustProxyOptions>['trustedProxies']): Trust {
  if (proxies === true) return () => true
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  return inNetworks(proxies.flatMap((one) => (Object.hasOwn(named, one) ? named[one]! : [one])))
}

/** A range without a prefix would be everyone, for whom there is `true`. */
const isRange = (text: string) => Object.hasOwn(named, text) || (networkIn(text)?.prefix ?? 0) > 0
