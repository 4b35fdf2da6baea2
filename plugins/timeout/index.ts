export type { TimeoutOptions } from './options.ts'
export { timeout } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Milliseconds that this route may take, instead of the server's limit; `false`: no limit. */
    timeout?: number | false
  }
}
