import type { Middleware } from './middleware.ts'

/** The options of a route; each plugin that reads one merges its own line into this interface. */
export interface RouteOptions {
  /** Middlewares of this route alone, after those of the server, its plugins and its groups. */
  middlewares?: readonly Middleware[]
}

/** What describes a route in the older call form: what the option may be that takes it, by the plugin which merges that. */
export type RouteDescription = RouteOptions extends { apidoc?: infer Doc } ? Exclude<Doc, false | undefined> : object

/**
 * What the members of a route's options must be, seen from the options that are given: for checks that one member
 * needs of another. A plugin merges its line; the name of the type parameter is the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named by those who merge
export interface OptionChecks<Options> {
  /** A list that an import did not give would leave the route without its guards. */
  middlewares: readonly Middleware[]
}

/** What the options of a route must be whose requests have no body: GET, HEAD and OPTIONS. A plugin merges its lines. */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface BodilessOptions {}
