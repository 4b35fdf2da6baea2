import { type Logger, systemClock, type Timer } from '../../kernel/index.ts'
import { dialects, ensureTable } from '../shared/stores/tables.ts'
import type { TableHost } from './drivers/contract.ts'

const hour = 3_600_000

export type Inbox = ReturnType<typeof inboxOf>

/** The ids under which something was done once. */
export function inboxOf(client: TableHost, { table, keep }: { readonly table: string; readonly keep: number }) {
  const { now, bytes } = dialects[client.system]
  // Not "insert ignore", which cuts an id that is too long. Where the row exists, this changes 2, also if nothing differs between the two times.
  const unlessDone =
    client.system === 'mysql' ? 'on duplicate key update done_at = done_at + 1' : 'on conflict do nothing'
  const remove = () => client.query(`delete from ${table} where done_at < ${now} - ${keep}`)
  let timer: Timer | undefined
  return {
    /** Notes an id of a scope; changes one row if it is new. */
    note: `insert into ${table} (scope, id, done_at) values ($1, $2, ${now}) ${unlessDone}`,

    async open(log: Logger): Promise<void> {
      const columns = `scope ${bytes} not null, id ${bytes} not null, done_at double precision not null, primary key (scope, id)`
      await ensureTable(client, `the inbox of the database "${client.name}"`, table, columns)
      // Otherwise MySQL locks each row that it has read, while it waits for the one of a transaction.
      const forget = () =>
        client.transaction(remove, { isolation: 'read committed' }).catch((error: unknown) => {
          log.warn({ err: error, database: client.name }, 'old ids of the inbox could not be removed')
        })
      timer = systemClock.setInterval(forget, hour)
      timer.unref()
      await forget()
    },

    close: (): void => systemClock.clear(timer),
  }
}
