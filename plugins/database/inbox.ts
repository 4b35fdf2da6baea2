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
    // Reading the whole table, MySQL would lock it, and wait in it for the transaction that has noted an id.
    const from = client.system === 'mysql' ? `${table} from ${table} force index (done_at)` : `from ${table}`
    this.#forget = `delete ${from} where done_at < ${now} - ${keep}`
  }

  async open(log: Logger): Promise<void> {
    const { bytes, indexed } = dialects[this.#client.system]
    const columns = `scope ${bytes} not null, id ${bytes} not null, done_at double precision not null, primary key (scope, id)${indexed('done_at')}`
    await ensureTable(this.#client, `the inbox of the database "${this.#client.name}"`, this.#table, columns)
    const forget = () =>
      this.#client.query(this.#forget).catch((error: unknown) => {
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
