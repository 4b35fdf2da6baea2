import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CustomHandler, GenericPubSub } from 'framework'
import type { Pool } from 'pg'

export const messageTable = `create table if not exists messages (
  id uuid primary key, topic text not null, payload json not null,
  attempt int not null default 0, attempts int not null,
  due timestamptz not null default now(), state text not null default 'waiting')`

export interface PublishOptions {
  /** How many times a message is tried; default 1. */
  readonly attempts?: number
}

/** The number of seconds for which a message belongs to the worker that took it. Longer than any handler may run. */
const lease = 60

/** Keeps messages in a table. A worker takes a message for a limited time, and deletes it once its handler has finished. */
export class PostgresMessages implements GenericPubSub<PublishOptions> {
  /** The key of its settings in the configuration of the queues. */
  readonly name = 'table'
  readonly #pool: Pool
  readonly #workers = new Map<CustomHandler, AbortController>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async publish(topic: string, payload: unknown, { attempts = 1 }: PublishOptions = {}) {
    const id = randomUUID()
    await this.#pool.query('insert into messages (id, topic, payload, attempts) values ($1, $2, $3, $4)', [
      id,
      topic,
      JSON.stringify(payload),
      attempts,
    ])
    return { id }
  }

  async subscribe(topic: string, handler: CustomHandler, { concurrency = 1 } = {}) {
    const worker = new AbortController()
    this.#workers.set(handler, worker)
    for (let i = 0; i < concurrency; i++) void this.#work(topic, handler, worker.signal)
  }

  /** Resolves once no further message will be started; the framework itself waits for those that are being handled. */
  async unsubscribe(_topic: string, handler: CustomHandler) {
    this.#workers.get(handler)?.abort()
    this.#workers.delete(handler)
  }

  async counts(topic: string) {
    const { rows } = await this.#pool.query(
      `select count(*) filter (where state = 'waiting' and due <= now())::int as waiting,
              count(*) filter (where state = 'active')::int as active,
              count(*) filter (where state = 'waiting' and due > now())::int as delayed,
              count(*) filter (where state = 'dead')::int as failed
       from messages where topic = $1`,
      [topic],
    )
    return rows[0] as { waiting: number; active: number; delayed: number; failed: number }
  }

  async ping() {
    await this.#pool.query('select 1')
  }

  async #work(topic: string, handler: CustomHandler, signal: AbortSignal) {
    while (!signal.aborted) {
      // An unavailable database does not end the worker: the loop tries again.
      const isBusy = await this.#next(topic, handler).catch(() => false)
      if (!isBusy) await pause(100, undefined, { signal }).catch(() => {})
    }
  }

  /** Handles one message, if there is one, and returns whether there was. */
  async #next(topic: string, handler: CustomHandler) {
    // `skip locked`: two workers that ask at the same time get different messages. A dead worker's message is due again after the lease.
    const { rows } = await this.#pool.query(
      `update messages set state = 'active', attempt = attempt + 1, due = now() + $2 * interval '1 second'
       where id = (select id from messages where topic = $1 and state <> 'dead' and due <= now()
                   order by due limit 1 for update skip locked)
       returning id, payload, attempt, attempts`,
      [topic, lease],
    )
    if (rows[0] === undefined) return false
    const { id, payload, attempt, attempts } = rows[0]
    try {
      await handler(payload, { id, attempt, attempts })
      await this.#pool.query('delete from messages where id = $1', [id])
    } catch (error) {
      // The framework has logged the error. A payload that the queue's schema refuses will not become valid later.
      const isDead = attempt >= attempts || (error as { code?: unknown }).code === 'QueuePayloadError'
      // After one second, then two, four, eight …
      await this.#pool.query(
        `update messages set state = $2, due = now() + power(2, attempt - 1) * interval '1 second' where id = $1`,
        [id, isDead ? 'dead' : 'waiting'],
      )
    }
    return true
  }
}
