import type { ListedRoute, RouteOptions } from '../../../kernel/index.ts'
import type { PathParameter } from '../../toolkit/description/paths.ts'
import type { Direction } from '../../toolkit/schema/self-description.ts'
import type { SharedResponses } from './built-in.ts'

/** The schemas of one route by what they are for: a decorator adds its own to those of the options. */
export type Part = 'headers' | 'params' | 'query' | 'body' | 'all'

/** One operation while it is described: all that the steps need. */
export interface Scene {
  readonly route: ListedRoute
  readonly method: string
  /** The route's options, and what plugins say that their own options mean. */
  readonly sets: readonly RouteOptions[]
  readonly pathParameters: readonly PathParameter[]
  /** A place for a schema of any kind; `what` says whose it is, for its name and for notes. */
  use(schema: unknown, direction: Direction, what: string): unknown
  /** The translated schema, to be taken apart. */
  look(schema: unknown, what: string): unknown
  /** Told what could not be described. */
  note(why: string): void
  /** Whether failures are described. */
  readonly hasFailures: boolean
  /** The responses that operations share. */
  readonly responses: SharedResponses
  /** Whether a reference leads to a component, those of the framework included. */
  hasComponent(ref: string): boolean
}

/** The schemas of a part, of all who validate it. */
export function schemasOf({ sets }: Pick<Scene, 'sets'>, part: Part): unknown[] {
  return sets.map((set) => set[part]).filter((schema) => schema !== undefined)
}
