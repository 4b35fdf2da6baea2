import type { UrlencodedOptions } from './options.ts'

export type { UrlencodedOptions } from './options.ts'
export { urlencoded } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** How this route reads forms; omitted members are taken from the plugin. `false`: its body stays unread, for `req.raw`. */
    urlencoded?: UrlencodedOptions | false
  }
}
