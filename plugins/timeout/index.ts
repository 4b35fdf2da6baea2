export type { TimeoutOptions } from './options.ts'
export { timeout } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Milliseconds that this route may take, in place of the server's; `false`: no limit. */
    timeout?: number | false
  }
}
