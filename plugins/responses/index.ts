import type { TypedShorthands, WithStatus } from './types.ts'

export type { ResponsesOptions } from './options.ts'
export { responses } from './plugin.ts'

// In the files that declare the interfaces: merging into the door would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Schemas of the answers by their status: what a schema does not name never leaves. */
    responses?: { readonly [status: number]: object }
  }
}

declare module '../../kernel/routing/params.ts' {
  interface ResponseTypes<Options> extends TypedShorthands<Options> {
    status<const Status extends number>(code: Status): WithStatus<Options, Status>
  }
}
