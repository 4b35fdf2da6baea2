export { logger } from './logger.ts'
export type { LogOptions, LogStream } from './options.ts'
export { log } from './plugin.ts'

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false` leaves the route's requests out of the response log: probes, for example. */
    log?: boolean
  }
}
