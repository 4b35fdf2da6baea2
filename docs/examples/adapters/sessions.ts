import type { SessionStore } from 'framework'
import type { Pool } from 'pg'

/** Not `jsonb`, which refuses text that contains NUL. */
export const sessionTable = `create table if not exists sessions (
  id text primary key, data json not null, until timestamptz not null)`

/** Keeps sessions in a table. Each method is a single statement, so the database puts simultaneous requests in order. */
export class PostgresSessions implements SessionStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async get(id: string) {
    const { rows } = await this.#pool.query('select data from sessions where id = $1 and until > now()', [id])
    return rows[0]?.data as object | undefined
  }

  async set(id: string, data: object, seconds: number) {
    await this.#pool.query(
      `insert into sessions values ($1, $2, now() + $3 * interval '1 second')
       on conflict (id) do update set data = excluded.data, until = excluded.until`,
      [id, JSON.stringify(data), seconds],
    )
  }

  /** Never an upsert, with which a slow request would sign a user back in who had signed out in the meantime. */
  async update(id: string, data: object, seconds: number) {
    const { rowCount } = await this.#pool.query(
      `update sessions set data = $2, until = now() + $3 * interval '1 second' where id = $1 and until > now()`,
      [id, JSON.stringify(data), seconds],
    )
    return rowCount === 1
  }

  async destroy(id: string) {
    const { rowCount } = await this.#pool.query('delete from sessions where id = $1 and until > now()', [id])
    return rowCount === 1
  }

  async touch(id: string, seconds: number) {
    const { rowCount } = await this.#pool.query(
      `update sessions set until = now() + $2 * interval '1 second' where id = $1 and until > now()`,
      [id, seconds],
    )
    return rowCount === 1
  }

  /** Deletes the rows that no one reads any more; meant for an hourly job. */
  async sweep() {
    await this.#pool.query('delete from sessions where until <= now()')
  }
}
