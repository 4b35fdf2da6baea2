import type { HelmetOptions } from './options.ts'

export type { HelmetOptions } from './options.ts'
export { helmet } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Security headers of this route in place of the server's; `false`: none. */
    helmet?: false | HelmetOptions
  }
}
