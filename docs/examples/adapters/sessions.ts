import type { SessionStore } from 'framework'
import type { Pool } from 'pg'

/** Not `jsonb`, which refuses a text with NUL. */
export const sessionTable = `create table if not exists sessions (
  id text primary key, data json not null, until timestamptz not null)`

/** Sessions in a table. One statement for each method: what two requests do at the same time, the database puts in order. */
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

  /** Never an upsert: a slow request would sign in again a user who has signed out meanwhile. */
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

  /** Rows that no one reads any more; for a job of every hour. */
  async sweep() {
    await this.#pool.query('delete from sessions where until <= now()')
  }
}
