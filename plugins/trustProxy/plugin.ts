import { definePlugin } from '../../kernel/index.ts'
import { canonicalAddress } from '../shared/http/network.ts'
import { fromForwarded, fromXForwarded } from './client.ts'
import { trustOf, trustProxyOptions } from './options.ts'

/**
 * Uses the headers of trusted proxies for data about the client: `req.ip`, `req.protocol` and the host of `req.url` come from
 * them. Without this plugin, and from all other peers, such headers are ignored.
 *
 * @example
 * new Server({ plugins: { trustProxy: { trustedProxies: ['10.0.0.0/8'] } } })
 */
export const trustProxy = definePlugin({
  name: 'trustProxy',
  access: false,
  options: trustProxyOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  setup(ctx, { trustedProxies, header }) {
    const trusts = trustOf(trustedProxies)
    const read = header === 'forwarded' ? fromForwarded : fromXForwarded
    // Behind a proxy a server has few direct peers, and the check costs ten times as much as a lookup.
    const peers = new Map<string, { readonly address: string; readonly trusted: boolean }>()
    const judged = (ip: string) => {
      const address = canonicalAddress(ip) ?? ip
      const peer = { address, trusted: trusts(address, 0) }
      if (peers.size >= 1_000) peers.clear()
      peers.set(ip, peer)
      return peer
    }

    ctx.rewrite(function trustProxy(raw) {
      const { ip } = raw
      const { address, trusted } = peers.get(ip) ?? judged(ip)
      if (trusted) return read(raw, address, trusts)
      return address === ip ? undefined : { ip: address }
    })
  },
})
