import type { Response, RouteResponse } from '../../kernel/index.ts'
import type { Responses } from './service.ts'
import type { AnswerStatus, AnyBodyArguments, ReturnsOf, TypedShorthands, WithStatus } from './types.ts'

export type { ResponsesOptions } from './options.ts'
export { responses } from './plugin.ts'
export type { CompileOptions, ResponseSchemas, Responses } from './service.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Serialisers made of response schemas. */
    responses: Responses
  }
}

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Schemas of the answers by their status: members outside a schema are never sent. */
    responses?: { readonly [status: number]: object }
  }
}

declare module '../../kernel/routing/params.ts' {
  interface ResponseTypes<Options> extends TypedShorthands<Options> {
    json(...body: AnyBodyArguments<Options>): Response
    send(...body: AnyBodyArguments<Options>): Response
    // The chained response keeps its types.
    header(...given: Parameters<Response['header']>): RouteResponse<Options>
    setHeader(...given: Parameters<Response['setHeader']>): RouteResponse<Options>
    setHeaders(...given: Parameters<Response['setHeaders']>): RouteResponse<Options>
    removeHeader(...given: Parameters<Response['removeHeader']>): RouteResponse<Options>
    appendHeader(...given: Parameters<Response['appendHeader']>): RouteResponse<Options>
    vary(...given: Parameters<Response['vary']>): RouteResponse<Options>
    type(...given: Parameters<Response['type']>): RouteResponse<Options>
    status<const Status extends number>(code: AnswerStatus<Options, Status>): WithStatus<Options, Status>
  }
  interface HandlerTypes<Options> {
    readonly returns: ReturnsOf<Options>
  }
}
