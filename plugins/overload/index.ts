import type { OverloadState } from './gate.ts'

export type { OverloadState } from './gate.ts'
export type { OverloadOptions } from './options.ts'
export { overload } from './plugin.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false`: the route also responds while the server is overloaded. */
    overload?: false
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** How busy the process is, and what was refused, with the plugin `overload`. */
    overload: OverloadState
  }
}
