import type { DatabaseClient } from './database.ts'

/**
 * The services of the databases by name; applications with a query builder merge its type into this interface, `main` for the option
 * `layer` of the plugin itself.
 *
 * @example
 * import type { Kysely } from 'kysely'
 * declare module 'framework' {
 *   interface DatabaseLayers {
 *     archive: Kysely<{ books: { title: string } }>
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface DatabaseLayers {}

/** The service of a database: what its `layer` returns, otherwise a {@link DatabaseClient}. */
export type LayerOf<Name extends string> = Name extends keyof DatabaseLayers ? DatabaseLayers[Name] : DatabaseClient

/** The service of the main database: `services.database` and `req.database`. */
export type MainDatabase = LayerOf<'main'>
