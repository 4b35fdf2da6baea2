export type { Encoding } from './coders.ts'
export type { CompressionOptions } from './options.ts'
export { compression } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false` leaves the route's answers as they are. */
    compress?: false
  }
}
