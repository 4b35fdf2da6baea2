import { type DoctorCheck, notForProduction, productionWarning } from '../shared/doctor/check.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { trustProxyOptions } from './options.ts'

/** nginx and the load balancers of AWS close a connection that has been idle for 60 s; others wait longer. */
const proxyIdle = 60_000

export const checks: readonly DoctorCheck<SettingsOf<typeof trustProxyOptions>>[] = [
  productionWarning('trustProxy.keep-alive', ({ server }) => {
    const { keepAliveTimeout } = server.settings.limits
    // 0 keeps connections for ever, and Deno has no such setting.
    if ('deno' in process.versions || keepAliveTimeout === 0 || keepAliveTimeout > proxyIdle) return undefined
    return {
      problem: `limits.keepAliveTimeout is ${keepAliveTimeout} ms: the server closes idle connections before most proxies do; a proxy that uses a closing connection responds with 502`,
      remedy: 'Make it longer than the idle time of the proxy: limits: { keepAliveTimeout: 75_000 }',
    }
  }),
  notForProduction('trustProxy.everyone', ({ trustedProxies }) => trustedProxies === true, {
    problem: 'trustProxy.trustedProxies is true: every client can choose the address that limits and logs see',
    remedy: 'Name the proxies (["10.0.0.0/8"]), or how many there are: 1',
  }),
]
