import type { Response, RouteResponse, Statuses, StatusName } from '../../kernel/index.ts'
import type { InputOf } from '../validation/index.ts'

type SchemaOf<Options, Status extends number> = Options extends { readonly responses: infer Schemas }
  ? Status extends keyof Schemas
    ? Schemas[Status]
    : `${Status}` extends keyof Schemas
      ? Schemas[`${Status}`]
      : undefined
  : undefined

/** The arguments of the shorthand for a status: its body by the schema, anything without one. */
export type BodyArguments<Options, Status extends number> =
  SchemaOf<Options, Status> extends infer Schema
    ? Schema extends undefined
      ? [body?: unknown]
      : undefined extends InputOf<Schema>
        ? [body?: InputOf<Schema>]
        : [body: InputOf<Schema>]
    : never

/** The shorthands of a response, each with the body that the route's schema for its status describes. */
export type TypedShorthands<Options> = {
  [Name in StatusName]: (...body: BodyArguments<Options, Statuses[Name]>) => Response
}

/** A response whose status was just chosen. */
export type WithStatus<Options, Status extends number> = number extends Status
  ? RouteResponse<Options>
  : Omit<RouteResponse<Options>, 'json' | 'send'> & {
      json(...body: BodyArguments<Options, Status>): Response
      send(...body: BodyArguments<Options, Status>): Response
    }
