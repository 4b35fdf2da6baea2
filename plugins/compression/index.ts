export type { Encoding } from './coders.ts'
export type { CompressionOptions } from './options.ts'
export { compression } from './plugin.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false` leaves the route's responses uncompressed. */
    compress?: false
  }
}
