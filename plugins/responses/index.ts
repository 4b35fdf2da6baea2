import type { Response, RouteResponse } from '../../kernel/index.ts'
import type { Responses } from './service.ts'
import type { AnyBodyArguments, ResponseStatus, ReturnsOf, TypedShorthands, WithStatus } from './types.ts'

export { responses } from './plugin.ts'
export type { CompileOptions, ResponseSchemas, Responses } from './service.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Serialisers made from response schemas. */
    responses: Responses
  }
}

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Schemas of the responses by status: members outside a schema are never sent. */
    responses?: { readonly [status: number]: object }
    /** The `secret` members that the responses of the route send, such as `['token']`: any other in a response is an error at boot. */
    issues?: readonly string[]
  }
}

declare module '../../kernel/routing/params.ts' {
  interface ResponseTypes<Options> extends TypedShorthands<Options> {
    /** Responds with JSON that the schema of the status allows. */
    json(...body: AnyBodyArguments<Options>): Response
    /** Responds with a body that the schema of the status allows. */
    send(...body: AnyBodyArguments<Options>): Response
    // The chained response keeps its types.
    /** Sets a header; what follows keeps the types of the route. */
    header(...given: Parameters<Response['header']>): RouteResponse<Options>
    /** The same as `header`. */
    setHeader(...given: Parameters<Response['setHeader']>): RouteResponse<Options>
    /** Sets headers that `presetHeaders` has checked; what follows keeps the types of the route. */
    setHeaders(...given: Parameters<Response['setHeaders']>): RouteResponse<Options>
    /** Removes a header; what follows keeps the types of the route. */
    removeHeader(...given: Parameters<Response['removeHeader']>): RouteResponse<Options>
    /** Adds a value to a header; what follows keeps the types of the route. */
    appendHeader(...given: Parameters<Response['appendHeader']>): RouteResponse<Options>
    /** Adds names to `Vary`; what follows keeps the types of the route. */
    vary(...given: Parameters<Response['vary']>): RouteResponse<Options>
    /** Sets the content type; what follows keeps the types of the route. */
    type(...given: Parameters<Response['type']>): RouteResponse<Options>
    /** Sets the status, which must be in the option `responses`; the body that follows is checked against its schema. */
    status<const Status extends number>(code: ResponseStatus<Options, Status>): WithStatus<Options, Status>
  }
  interface HandlerTypes<Options> {
    /** What a handler may return: bodies that a schema of the option `responses` allows. Exists for the type checker only. */
    readonly returns: ReturnsOf<Options>
  }
}
