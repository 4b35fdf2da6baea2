import { type Logger, systemClock, type Timer } from '../../kernel/index.ts'
import { dialects, ensureTable } from '../shared/stores/tables.ts'
import type { TableHost } from './drivers/contract.ts'

const hour = 3_600_000

/** The ids under which something was done once. */
export class Inbox {
  /** Notes an id of a scope; changes one row if it is new. */
  readonly note: string
  readonly #client: TableHost
  readonly #table: string
  readonly #forget: string
  #timer: Timer | undefined

  constructor(client: TableHost, { table, keep }: { readonly table: string; readonly keep: number }) {
    this.#client = client
    this.#table = table
    const { now } = dialects[client.system]
    // Not "insert ignore", which cuts an id that is too long. Where the row exists, this changes 2, also if nothing differs between the two times.
    const unlessDone =
      client.system === 'mysql' ? 'on duplicate key update done_at = done_at + 1' : 'on conflict do nothing'
    this.note = `insert into ${table} (scope, id, done_at) values ($1, $2, ${now}) ${unlessDone}`
    this.#forget = `delete from ${table} where done_at < ${now} - ${keep}`
  }

  async open(log: Logger): Promise<void> {
    const { bytes } = dialects[this.#client.system]
    const columns = `scope ${bytes} not null, id ${bytes} not null, done_at double precision not null, primary key (scope, id)`
    await ensureTable(this.#client, `the inbox of the database "${this.#client.name}"`, this.#table, columns)
    const remove = () => this.#client.query(this.#forget)
    // Otherwise MySQL locks each row that it has read, while it waits for the one of a transaction.
    const forget = () =>
      this.#client.transaction(remove, { isolation: 'read committed' }).catch((error: unknown) => {
        log.warn({ err: error, database: this.#client.name }, 'old ids of the inbox could not be removed')
      })
    this.#timer = systemClock.setInterval(forget, hour)
    this.#timer.unref()
    await forget()
  }

  close(): void {
    systemClock.clear(this.#timer)
  }
}
