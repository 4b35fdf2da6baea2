import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CustomHandler, GenericPubSub } from 'framework'
import type { Pool, QueryResult } from 'pg'

export const messageTable = `create table if not exists messages (
  id uuid primary key, topic text not null, payload json not null, carrier json,
  attempt int not null default 0, attempts int not null, backoff json,
  due timestamptz not null, state text not null default 'waiting')`

/** The options of `queue(name)` that `supports` names. */
export interface PublishOptions {
  /** How many times a message is tried; default 1. */
  readonly attempts?: number
  /** The time between two attempts, of which `jitter` is at random. */
  readonly backoff?: { readonly type: 'fixed' | 'exponential'; readonly delay: number; readonly jitter: number }
  /** Milliseconds before the first attempt. */
  readonly delay?: number
}

/** The number of seconds for which a message belongs to the worker that took it. Longer than any handler may run. */
const lease = 60

/** What takes the messages for one handler; `taking` are its requests that may still return one. */
interface Worker {
  readonly stopped: AbortController
  readonly taking: Set<Promise<unknown>>
}

/** Keeps messages in a table. A worker takes a message for a limited time, and deletes it once its handler has finished. */
export class PostgresMessages implements GenericPubSub<PublishOptions> {
  /** The key of its settings in the configuration of the queues. */
  readonly name = 'table'
  readonly supports = ['attempts', 'backoff', 'delay'] as const
  readonly #pool: Pool
  readonly #workers = new Map<CustomHandler, Worker>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async publish(topic: string, payload: unknown, options: PublishOptions = {}, sent?: { carrier: object }) {
    const { attempts = 1, backoff, delay = 0 } = options
    const id = randomUUID()
    await this.#pool.query(
      `insert into messages (id, topic, payload, carrier, attempts, backoff, due)
       values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 millisecond')`,
      [id, topic, JSON.stringify(payload), sent?.carrier, attempts, backoff, delay],
    )
    return { id }
  }

  async subscribe(topic: string, handler: CustomHandler, { concurrency = 1 } = {}) {
    const worker: Worker = { stopped: new AbortController(), taking: new Set() }
    this.#workers.set(handler, worker)
    for (let i = 0; i < concurrency; i++) void this.#work(topic, handler, worker)
  }

  /** Resolves once no further message will be started; the framework itself waits for those that are being handled. */
  async unsubscribe(_topic: string, handler: CustomHandler) {
    const worker = this.#workers.get(handler)
    this.#workers.delete(handler)
    worker?.stopped.abort()
    await Promise.allSettled(worker?.taking ?? [])
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

  async #work(topic: string, handler: CustomHandler, worker: Worker) {
    const { signal } = worker.stopped
    while (!signal.aborted) {
      // An unavailable database does not end the worker: the loop tries again.
      const isBusy = await this.#next(topic, handler, worker).catch(() => false)
      if (!isBusy) await pause(100, undefined, { signal }).catch(() => {})
    }
  }

  /** Handles one message, if there is one, and returns whether there was. */
  async #next(topic: string, handler: CustomHandler, { taking }: Worker) {
    // `skip locked`: two workers that ask at the same time get different messages. A dead worker's message is due again after the lease.
    const taken: Promise<QueryResult> = this.#pool.query(
      `update messages set state = 'active', attempt = attempt + 1, due = now() + $2 * interval '1 second'
       where id = (select id from messages where topic = $1 and state <> 'dead' and due <= now()
                   order by due limit 1 for update skip locked)
       returning id, payload, carrier, attempt, attempts, backoff`,
      [topic, lease],
    )
    taking.add(taken)
    const forget = () => taking.delete(taken)
    taken.then(forget, forget)
    const { rows } = await taken
    if (rows[0] === undefined) return false
    const { id, payload, carrier, attempt, attempts, backoff } = rows[0]
    try {
      await handler(payload, { id, attempt, attempts, carrier: carrier ?? undefined })
      await this.#pool.query('delete from messages where id = $1', [id])
    } catch (error) {
      // The framework has logged the error. A payload that the queue's schema refuses will not become valid later.
      const isDead = attempt >= attempts || (error as { code?: unknown }).code === 'QueuePayloadError'
      await this.#pool.query(
        `update messages set state = $2, due = now() + $3 * interval '1 millisecond' where id = $1`,
        [id, isDead ? 'dead' : 'waiting', pauseOf(backoff, attempt)],
      )
    }
    return true
  }
}

/** The milliseconds after a failed attempt. */
function pauseOf(backoff: PublishOptions['backoff'] | null, attempt: number): number {
  if (!backoff) return 0
  const { type, delay, jitter } = backoff
  return delay * (type === 'exponential' ? 2 ** (attempt - 1) : 1) * (1 - jitter * Math.random())
}
