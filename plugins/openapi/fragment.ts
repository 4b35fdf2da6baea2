import type { RouteOptions } from '../../kernel/index.ts'

/** A route, for a plugin that describes the responses it sends instead of the handler. */
export interface DescribedRoute {
  /** The method of the route: `GET`. */
  readonly method: string
  /** The path as registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** All options of the route. */
  readonly options: RouteOptions
  /** The parsed options with which the plugin was registered. */
  readonly settings: unknown
}

/** Data that a plugin adds to the API description. */
export interface OpenApiFragment {
  /** Descriptions of tags: `name` and `description`. */
  readonly tags?: readonly { name: string; description?: string }[]
  /** Components that are merged into those of the document. */
  readonly components?: { readonly [kind: string]: { readonly [name: string]: object } }
  /**
   * Translates the plugin's own route options into options that the description knows: schemas (`body`, `query`,
   * …, `responses`) and `apidoc`. Called for each route that the plugin reaches.
   */
  describe?(options: RouteOptions): readonly RouteOptions[]
  /**
   * Describes the responses that the plugin sends instead of the handler: names of responses by status, either the framework's own (`BadRequest`,
   * `Unauthorized`, `PayloadTooLarge`, `UnsupportedMediaType`, `ValidationError`, `TooManyRequests`) or of
   * `components.responses`; one without `content` gets the default body of failures, `{ code, message }`. Called for
   * each route that the plugin reaches.
   */
  failures?(route: DescribedRoute): { readonly [status: string]: string | undefined }
}
