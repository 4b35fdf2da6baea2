import type { RequestContext } from './context.ts'

export type { ContextValues, RequestContext } from './context.ts'
export { currentContext, requestContext } from './plugin.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/http/request/request.ts' {
  interface Request {
    /** The values of the requestContext plugin for this request. */
    readonly context: RequestContext
  }
}
