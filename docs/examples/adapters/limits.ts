import type { RateLimitStore } from 'framework'
import type { Pool } from 'pg'

/** Not logged: a counter that is lost with a crash is a limit that begins anew. */
export const limitTable = `create unlogged table if not exists limits (
  key text primary key, count int not null, until timestamptz not null)`

/** One count for all processes. */
export class PostgresLimits implements RateLimitStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** In one statement: of two requests that come at the same time both count. */
  async hit(key: string, windowMs: number) {
    const { rows } = await this.#pool.query(
      `insert into limits values ($1, 1, now() + $2 * interval '1 millisecond')
       on conflict (key) do update set
         count = case when limits.until > now() then limits.count + 1 else 1 end,
         until = case when limits.until > now() then limits.until else excluded.until end
       returning count, extract(epoch from until - now()) * 1000 as rest`,
      [key, windowMs],
    )
    // `now()` is when the statement began: one that has waited for another would see more than a whole window.
    return { count: rows[0].count as number, resetMs: Math.min(windowMs, Number(rows[0].rest)) }
  }
}
