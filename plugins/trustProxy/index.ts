export type { TrustProxyOptions } from './options.ts'
export { trustProxy } from './plugin.ts'
