import type { JsonOptions } from './options.ts'

export type { JsonOptions } from './options.ts'
export { json } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** How this route reads JSON; omitted members are as in the plugin. `false`: its body stays unread, for `req.raw`. */
    json?: JsonOptions | false
  }
}
