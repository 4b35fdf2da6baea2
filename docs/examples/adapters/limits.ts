import type { RateLimitStore } from 'framework'
import type { Pool } from 'pg'

/** An unlogged table: a crash loses the counters, and each limit merely starts again. */
export const limitTable = `create unlogged table if not exists limits (
  key text primary key, count int not null, until timestamptz not null)`

/** Keeps one count for all processes. */
export class PostgresLimits implements RateLimitStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** In one statement, so that two simultaneous requests are both counted. */
  async hit(key: string, windowMs: number) {
    const { rows } = await this.#pool.query(
      `insert into limits values ($1, 1, now() + $2 * interval '1 millisecond')
       on conflict (key) do update set
         count = case when limits.until > now() then limits.count + 1 else 1 end,
         until = case when limits.until > now() then limits.until else excluded.until end
       returning count, extract(epoch from until - now()) * 1000 as rest`,
      [key, windowMs],
    )
    // `now()` is the time at which the statement began, so one that waited for another would see more than a whole window.
    return { count: rows[0].count as number, resetMs: Math.min(windowMs, Number(rows[0].rest)) }
  }
}
