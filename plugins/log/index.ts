export { logger } from './logger.ts'
export type { LogLevel, LogOptions } from './options.ts'
export { log } from './plugin.ts'
export type { LogStream } from './sink.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false` leaves the route's requests out of the response log, for instance probes. */
    log?: boolean
  }
}
