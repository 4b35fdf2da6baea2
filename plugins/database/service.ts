import { DatabaseClient } from './database.ts'
import { DatabaseClosedError, DatabaseNameError } from './errors.ts'
import type { LayerOf } from './layers.ts'
import type { DatabasesSettings } from './options.ts'
import type { OutboxCounts } from './outbox.ts'

/**
 * The databases of a server by name; `main` is the one of the options themselves.
 *
 * @example
 * const server = new Server({ plugins: { database: { named: { reports: { url: 'sqlite:reports.sqlite' } } } } })
 * server.get('/totals', async () => {
 *   const { rows } = await server.services.get('databases').client('reports').query('select * from totals')
 *   return rows
 * })
 */
export class Databases {
  readonly #clients: ReadonlyMap<string, DatabaseClient>

  /** @internal */
  constructor({ main, named }: DatabasesSettings) {
    const all = Object.entries({ main, ...named })
    this.#clients = new Map(all.map(([name, settings]) => [name, new DatabaseClient(name, settings)]))
  }

  /** The names of the databases, `main` first. */
  get names(): string[] {
    return [...this.#clients.keys()]
  }

  /**
   * Returns the service of a database: what its `layer` has returned, otherwise its {@link DatabaseClient}.
   *
   * @throws DatabaseNameError for an unknown name, DatabaseClosedError before the server has booted.
   */
  get<Name extends string = 'main'>(name: Name = 'main' as Name): LayerOf<Name> {
    const { layer } = this.client(name)
    if (layer === undefined) throw DatabaseClosedError(name)
    return layer as LayerOf<Name>
  }

  /**
   * Returns a database itself, for statements and transactions, also of one with a query builder.
   *
   * @throws DatabaseNameError for an unknown name.
   */
  client(name = 'main'): DatabaseClient {
    const client = this.#clients.get(name)
    if (client === undefined) throw DatabaseNameError(name, this.names)
    return client
  }

  /** The messages that wait in the outboxes, by database and sender. @internal */
  async outboxes(): Promise<(OutboxCounts & { readonly database: string })[]> {
    const all = [...this.#clients].map(async ([database, { outbox }]) =>
      ((await outbox?.counts()) ?? []).map((counts) => ({ ...counts, database, oldest: counts.oldest / 1_000 })),
    )
    return (await Promise.all(all)).flat()
  }

  /** Does the same with all of them. When it rejects, nothing is under way any more, so that all can be closed. @internal */
  async each(work: (client: DatabaseClient) => Promise<unknown>): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#clients.values()].map(work))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}
