import type { Middleware } from './middleware.ts'

/** The options of a route; each plugin that reads one merges its own line into this interface. */
export interface RouteOptions {
  /** Middlewares of this route alone, after those of the server, its plugins and its groups. */
  middlewares?: readonly Middleware[]
}

/** The type of the option that describes a route in the older call form, as the plugin that reads the option merges it. */
export type RouteDescription = RouteOptions extends { apidoc?: infer Doc } ? Exclude<Doc, false | undefined> : object

/**
 * The required types of a route's options, given the options as written: for members whose type depends on
 * another member. A plugin merges its line; the name of the type parameter is the same everywhere.
 */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
export interface OptionChecks<Options> {
  /** A list that is `undefined` because of a wrong import would leave the route without its guards. */
  middlewares: readonly Middleware[]
}

/** The required types of the options of a route whose requests have no body: GET, HEAD and OPTIONS. A plugin merges its lines. */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface BodilessOptions {}
