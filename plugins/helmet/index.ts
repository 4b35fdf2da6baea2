import type { HelmetOptions } from './options.ts'

export type { HelmetOptions } from './options.ts'
export { helmet } from './plugin.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Security headers of this route instead of the server's; `false`: none. */
    helmet?: false | HelmetOptions
  }
}
