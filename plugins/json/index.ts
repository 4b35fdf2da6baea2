import type { JsonOptions } from './options.ts'

export type { JsonOptions } from './options.ts'
export { json } from './plugin.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** How this route reads JSON; omitted members are taken from the plugin. `false`: the body stays unread, for use of `req.raw`. */
    json?: JsonOptions | false
  }
}
