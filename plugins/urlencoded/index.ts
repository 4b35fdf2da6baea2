import type { UrlencodedOptions } from './options.ts'

export type { UrlencodedOptions } from './options.ts'
export { urlencoded } from './plugin.ts'

// In the file that declares the interface: merging into the door would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** How this route reads forms; what it leaves out is as the plugin has it. `false`: its body stays unread, for `req.raw`. */
    urlencoded?: UrlencodedOptions | false
  }
}
