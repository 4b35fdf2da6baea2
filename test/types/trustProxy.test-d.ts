import { Server } from 'framework'
import { type TrustProxyOptions, trustProxy } from 'framework/plugins/trustProxy'

new Server({ plugins: { trustProxy: { trustedProxies: ['10.0.0.0/8'], header: 'forwarded' } } })
new Server([trustProxy({ trustedProxies: 1 }), trustProxy({ trustedProxies: true })])
const options: TrustProxyOptions = { trustedProxies: ['loopback'] as const }
trustProxy(options)
// @ts-expect-error no peer is trusted unless one is named
trustProxy()
// @ts-expect-error false is written by leaving the plugin out
trustProxy({ trustedProxies: false })
// @ts-expect-error one address is a list of one
trustProxy({ trustedProxies: '10.0.0.1' })
// @ts-expect-error no such family of headers
trustProxy({ trustedProxies: 1, header: 'via' })
// @ts-expect-error no such option
new Server({ plugins: { trustProxy: { trustedProxies: 1, hops: 1 } } })
