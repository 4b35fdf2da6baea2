import type { ListedRoute, RouteOptions } from '../../../kernel/index.ts'
import type { PathParameter } from '../../toolkit/description/paths.ts'
import type { Direction } from '../../toolkit/schema/self-description.ts'
import type { SharedResponses } from './built-in.ts'

/** The schemas of one route by their purpose: a decorator adds its own to those of the options. */
export type Part = 'headers' | 'params' | 'query' | 'body' | 'all'

/** One operation while it is described: all data that the steps need. */
export interface Scene {
  readonly route: ListedRoute
  readonly method: string
  /** The route's options, and those that plugins derive from their own options. */
  readonly sets: readonly RouteOptions[]
  readonly pathParameters: readonly PathParameter[]
  /** A place for a schema of any kind; `what` describes its owner, for its name and for notes. */
  use(schema: unknown, direction: Direction, what: string): unknown
  /** The translated schema, for reading its parts. */
  look(schema: unknown, what: string): unknown
  /** Receives notes about parts that could not be described. */
  note(why: string): void
  /** Whether failures are described. */
  readonly hasFailures: boolean
  /** The responses that operations share. */
  readonly responses: SharedResponses
  /** Whether a reference refers to a component, including those of the framework. */
  hasComponent(ref: string): boolean
}

/** The schemas of a part, of all its validators. */
export function schemasOf({ sets }: Pick<Scene, 'sets'>, part: Part): unknown[] {
  return sets.map((set) => set[part]).filter((schema) => schema !== undefined)
}
