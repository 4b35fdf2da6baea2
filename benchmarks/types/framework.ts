import type { RouteSpec } from './application.ts'
import type { SchemaKind } from './schemas.ts'

/** Files of a generated application by their names. */
export type Files = Readonly<Record<string, string>>

/** One way of writing the application. */
export interface Framework {
  readonly name: string
  /** The file of some routes; the server composes its export `name`. */
  routes(name: string, routes: readonly RouteSpec[]): string
  /** The file that composes these, and all others, `server.ts` in any case. */
  server(names: readonly string[]): Files
  /** How a handler names the body: the place of the completion. */
  readonly body: string
  /** Impossible mistakes, because there is nothing that they could contradict. */
  readonly undeclared?: readonly RouteSpec['mistake'][]
  readonly client?: Client
}

/** A client of the application. */
export interface Client {
  readonly name: string
  /** `client.ts`, which calls these routes through an object called `client`. */
  write(routes: readonly RouteSpec[]): string
  /** Whether `framework generate-sdk` must run first. */
  readonly generated?: boolean
}

/** The constants of a route's schemas, as applications write them: named, and next to the route. */
export function schemasOf(route: RouteSpec, { write, writeQuery }: SchemaKind): string {
  const { index, query, body, answer, missing } = route
  return [
    query && `const Query${index} = ${writeQuery(query)}`,
    body && `const Body${index} = ${write(body)}`,
    `const Answer${index} = ${write(answer)}`,
    missing && `const Missing${index} = ${write(missing)}`,
  ]
    .filter(Boolean)
    .join('\n')
}

/** `200: Answer7, 404: Missing7` */
export const answersOf = ({ index, missing }: RouteSpec) =>
  missing ? `200: Answer${index}, 404: Missing${index}` : `200: Answer${index}`
