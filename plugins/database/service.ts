import type { Logger } from '../../kernel/index.ts'
import { DatabaseClient } from './database.ts'
import { DatabaseClosedError, DatabaseNameError, MigrationsMissingError, MigrationsPendingError } from './errors.ts'
import type { LayerOf } from './layers.ts'
import { checkReferences, exclusively } from './migrations.ts'
import type { DatabaseMigrations, DatabaseSettings, DatabasesSettings } from './options.ts'
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

  readonly #settings: { readonly [name: string]: DatabaseSettings }

  /** @internal */
  constructor({ main, named }: DatabasesSettings) {
    this.#settings = { main, ...named }
    const all = Object.entries(this.#settings)
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

  /** The option `migrations` of a database. @internal */
  migrationsOf(name: string): DatabaseMigrations | undefined {
    return this.#settings[this.client(name).name]!.migrations
  }

  #partsOf(name: string) {
    return { database: this.client(name), layer: this.get(name) }
  }

  /** Returns the names of the migrations that have not run yet; none without the option `migrations`. */
  async pendingMigrations(name = 'main'): Promise<readonly string[]> {
    return (await this.migrationsOf(name)?.pending(this.#partsOf(name))) ?? []
  }

  /**
   * Runs the migrations that have not run yet, all of them or none (in MySQL up to one that fails), in one process at a time, and returns their names: what `framework migrate` does.
   *
   * @throws (as a rejection) MigrationsMissingError without the option `migrations`; the error of the migration.
   */
  async migrate(name = 'main'): Promise<readonly string[]> {
    const [migrations, parts] = [this.migrationsOf(name), this.#partsOf(name)]
    if (migrations === undefined) throw MigrationsMissingError(name, 'migrations')
    const run = async () => {
      const names = await migrations.pending(parts)
      if (names.length === 0) return names
      await migrations.run(parts)
      await checkReferences(parts.database)
      return names
    }
    return exclusively(parts.database, run, true)
  }

  /** Runs the `seed` of the option `migrations`, in a transaction. @throws (as a rejection) MigrationsMissingError without one. */
  async seed(name = 'main'): Promise<void> {
    const [migrations, parts] = [this.migrationsOf(name), this.#partsOf(name)]
    if (migrations?.seed === undefined) throw MigrationsMissingError(name, 'migrations.seed')
    await exclusively(parts.database, () => parts.database.transaction(() => migrations.seed!(parts)))
  }

  /** Opens all, and migrates those in memory, which are empty. @internal */
  async open(server: object, log: Logger): Promise<void> {
    await this.each((client) => client.open(server, log))
    for (const [name, { url, migrations }] of Object.entries(this.#settings))
      if (url === 'sqlite::memory:' && migrations !== undefined) await this.migrate(name)
  }

  /** Refuses to serve with tables that the code does not expect, or warns. @internal */
  async checkPending(warn: (message: string) => void): Promise<void> {
    for (const name of this.names) {
      const pending = await this.pendingMigrations(name)
      if (pending.length === 0) continue
      const error = MigrationsPendingError(name, pending)
      if (this.migrationsOf(name)?.whenPending !== 'warn') throw error
      warn(error.message)
    }
  }

  /** Does the same with all of them. When it rejects, nothing is under way any more, so that all can be closed. @internal */
  async each(work: (client: DatabaseClient) => Promise<unknown>): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#clients.values()].map(work))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}
