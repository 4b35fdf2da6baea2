import type { RouteSpec } from './application.ts'
import type { SchemaKind } from './schemas.ts'

/** Files of a generated application by their names. */
export type Files = Readonly<Record<string, string>>

/** One way of writing the application. */
export interface Framework {
  readonly name: string
  /** Writes the file of some routes; the server composes its export `name`. */
  routes(name: string, routes: readonly RouteSpec[]): string
  /** Writes `server.ts`, which composes these files, and any other files needed. */
  server(names: readonly string[]): Files
  /** How a handler names the body: the place of the completion. */
  readonly body: string
  /** Mistakes that are impossible, because there is nothing that they could contradict. */
  readonly undeclared?: readonly RouteSpec['mistake'][]
  readonly client?: Client
}

/** A client of the application. */
export interface Client {
  readonly name: string
  /** Writes `client.ts`, which calls these routes through an object called `client`. */
  write(routes: readonly RouteSpec[]): string
  /** Whether `framework generate-sdk` must run first. */
  readonly generated?: boolean
}

/** Writes the constants of a route's schemas as applications do: named, and next to the route. */
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
