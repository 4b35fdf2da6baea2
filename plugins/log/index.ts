export { logger } from './logger.ts'
export type { LogLevel, LogOptions, LogStream } from './options.ts'
export { log } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false` leaves the route's requests out of the response log: probes, for example. */
    log?: boolean
  }
}
