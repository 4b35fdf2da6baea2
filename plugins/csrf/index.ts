export type { CsrfOptions } from './options.ts'
export { csrf } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false`: pages of other origins may send requests to this route, such as a log-in service that posts a form. */
    csrf?: false
  }
}
