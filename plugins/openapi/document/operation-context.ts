import type { ListedRoute, RouteOptions } from '../../../kernel/index.ts'
import type { PathParameter } from '../../shared/descriptions/paths.ts'
import type { Direction } from '../../shared/schema/self-description.ts'
import type { SharedResponses } from './built-in.ts'

/** The parts of a request that schemas describe: a decorator adds its schemas to those of the options. */
export type Part = 'headers' | 'params' | 'query' | 'body' | 'all'

/** An operation that is being described: all data that the steps need. */
export interface Scene {
  readonly route: ListedRoute
  readonly method: string
  /** The route's options, and those that plugins derive from their own options. */
  readonly sets: readonly RouteOptions[]
  readonly pathParameters: readonly PathParameter[]
  /** Places a schema of any kind in the document; `what` describes its owner, for its name and for notes. */
  use(schema: unknown, direction: Direction, what: string): unknown
  /** Returns the translated schema, for reading its parts. */
  look(schema: unknown, what: string): unknown
  /** Receives notes about parts that could not be described. */
  note(why: string): void
  /** Whether failures are described. */
  readonly hasFailures: boolean
  /** The responses that operations share. */
  readonly responses: SharedResponses
  /** Whether a reference refers to an existing component, including those of the framework. */
  hasComponent(ref: string): boolean
}

/** The schemas of all validators of a part. */
export function schemasOf({ sets }: Pick<Scene, 'sets'>, part: Part): unknown[] {
  return sets.map((set) => set[part]).filter((schema) => schema !== undefined)
}
