import type { Middleware } from './middleware.ts'

/** Data for the API description of one route. */
export interface ApiDoc {
  summary?: string
  description?: string
  tags?: readonly string[]
  operationId?: string
  deprecated?: boolean
  parameters?: readonly {
    name: string
    in: 'path' | 'query' | 'header' | 'cookie'
    description?: string
    required?: boolean
    schema?: object
  }[]
  responses?: { readonly [status: string]: object }
}

/** The options of a route; each plugin that reads one merges its own line into this interface. */
export interface RouteOptions {
  /** Middlewares of this route alone, behind those of the server, its plugins and its groups. */
  middlewares?: readonly Middleware[]
  /** What the API description says about the route beyond what follows from the other options. */
  apidoc?: ApiDoc
}

/**
 * What the members of a route's options must be, seen from the options that are given: for checks that one member
 * needs of another. A plugin merges its line; the name of the type parameter is the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named by those who merge
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface OptionChecks<Options> {}
