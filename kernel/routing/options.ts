import type { Middleware } from './middleware.ts'

/** Data for the API description of one route. */
export interface ApiDoc {
  summary?: string
  description?: string
  tags?: readonly string[]
  operationId?: string
  deprecated?: boolean
  /** Added to those of the schemas; one of the same name and place is merged over. */
  parameters?: readonly {
    name: string
    in: 'path' | 'query' | 'header' | 'cookie'
    description?: string
    required?: boolean
    deprecated?: boolean
    schema?: object
  }[]
  /** Merged over that of the schemas. */
  requestBody?: object
  /** By status, `2xx` or `default`: an OpenAPI response, or a schema of the body; merged over those of the schemas. */
  responses?: { readonly [status: string]: object }
  /** In place of what the policies stand for; an empty list: nobody is asked who he is. */
  security?: readonly { readonly [scheme: string]: readonly string[] }[]
  servers?: readonly { url: string; description?: string }[]
  externalDocs?: { url: string; description?: string }
  readonly [extension: `x-${string}`]: unknown
}

/** The options of a route; each plugin that reads one merges its own line into this interface. */
export interface RouteOptions {
  /** Middlewares of this route alone, behind those of the server, its plugins and its groups. */
  middlewares?: readonly Middleware[]
  /** What the API description says about the route beyond what follows from the other options; `false`: nothing at all. */
  apidoc?: ApiDoc | false
}

/**
 * What the members of a route's options must be, seen from the options that are given: for checks that one member
 * needs of another. A plugin merges its line; the name of the type parameter is the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named by those who merge
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface OptionChecks<Options> {}
