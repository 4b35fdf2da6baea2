import { systemClock } from '../../../kernel/index.ts'
import { Memoized } from '../values/memoize.ts'
import { foreignPause } from '../work/local-queue.ts'
import type { MessageState, QueueCounts, QueueOperations, StoredMessage } from './contract.ts'
import { uuidOf } from './ids.ts'
import { unwrap } from './pgboss-data.ts'

type Row = Record<string, unknown>
/** Runs a statement in the database of pg-boss. */
export type RunSql = (text: string, values: unknown[]) => Promise<{ rows: Row[] }>

/** How long a process may not notice that a queue was paused or continued. */
const noticeEvery = 1000

const hasFailed = "state in ('failed', 'cancelled')"
const isDue = "state in ('created', 'retry') and start_after <= now()"
/** The jobs of a state, and their order in lists. */
const wheres: { readonly [State in MessageState]: readonly [where: string, order: string] } = {
  waiting: [isDue, 'priority desc, created_on, id'],
  active: ["state = 'active'", 'started_on'],
  delayed: ["state in ('created', 'retry') and start_after > now()", 'start_after'],
  failed: [hasFailed, 'completed_on desc'],
}
// A list may have ids in another form than pg-boss's; for one, the index of the primary key is used.
const [thisOf, theseOf] = ['name = $1 and id = $2::uuid', 'name = $1 and id::text = any($2)']
/** The attempt of a job: `$3` is the retries before it, and `$4` whether it was marked as the last, with numbers above any that an attempt has. */
const attempt = 'retry_count in ($3, case when $4::boolean then $3 + retry_limit + 1 end)'
const ms3 = "$3 * interval '1 millisecond'"
const cases = Object.entries(wheres).map(([state, [where]]) => `when ${where} then '${state}'`)
const stateOf = `case ${cases.join(' ')} end as as_state`

/** What an operator can do with the jobs of a queue in Postgres. Versions 10 to 12 have the same columns, and no common calls for this. */
export class PgbossOperations implements QueueOperations {
  readonly #sql: RunSql
  readonly #schema: string
  /** What was read last. A promise, since a caller that did not await the first reading would take messages of a paused queue. */
  readonly #paused = new Memoized(async () => {
    const { rows } = (await this.#hasTable()) ? await this.#sql(`select name from ${this.#table}`, []) : { rows: [] }
    return new Set(rows.map(({ name }) => name))
  })
  #noticedAt = Number.NEGATIVE_INFINITY

  constructor(sql: RunSql, schema: string) {
    this.#sql = sql
    // As pg-boss writes it, which has checked it: without quotes, Postgres reads Jobs as jobs.
    this.#schema = schema
  }

  /** Runs a statement in which the table `job` is that of pg-boss. */
  async #rows(text: string, ...values: unknown[]): Promise<Row[]> {
    const named = text.replace(/\bjob\b/, () => `${this.#schema}.job`)
    return (await this.#sql(named, values)).rows
  }

  /** The paused queues; a table, because every process has to know them, and pg-boss has no place for it. */
  get #table(): string {
    return `${this.#schema}.framework_paused_queue`
  }

  async counts(topic: string): Promise<QueueCounts> {
    const numbers = Object.entries(wheres).map(([state, [where]]) => `count(*) filter (where ${where}) as ${state}`)
    const oldest = `extract(epoch from now() - min(start_after) filter (where ${isDue})) * 1000 as oldest`
    const columns = [...numbers, oldest].join(', ')
    const [row = {}] = await this.#rows(`select ${columns} from job where name = $1`, topic)
    const counts = Object.entries(row).map(([name, value]) => [name, Number(value ?? 0)])
    return Object.fromEntries(counts) as QueueCounts
  }

  async list(topic: string, state: MessageState, from: number, limit: number): Promise<StoredMessage[]> {
    const [where, order] = wheres[state]
    const text = `select *, ${stateOf} from job where name = $1 and ${where} order by ${order} offset $2 limit $3`
    return (await this.#rows(text, topic, from, limit)).map(stored)
  }

  async find(topic: string, id: string): Promise<StoredMessage | undefined> {
    const text = `select *, ${stateOf} from job where ${theseOf} and state <> 'completed'`
    const [row] = await this.#rows(text, topic, both(topic, [id]))
    return row && stored(row)
  }

  async retry(topic: string, ids: readonly string[]): Promise<number> {
    const again = "state = 'created', retry_count = 0, start_after = now(), started_on = null, completed_on = null"
    const text = `update job set ${again}, keep_until = now() + (keep_until - start_after) where ${theseOf} and ${hasFailed} returning id`
    return (await this.#rows(text, topic, both(topic, ids))).length
  }

  async remove(topic: string, ids: readonly string[]): Promise<number> {
    const text = `delete from job where ${theseOf} and state not in ('active', 'completed') returning id`
    return (await this.#rows(text, topic, both(topic, ids))).length
  }

  async pause(topic: string): Promise<void> {
    await this.#sql(`create table if not exists ${this.#table} (name text primary key)`, []).catch((error: unknown) => {
      // Another process has created it at the same moment.
      if ((error as { code?: unknown }).code !== '23505') throw error
    })
    await this.#sql(`insert into ${this.#table} values ($1) on conflict do nothing`, [topic])
    this.#noticedAt = Number.NEGATIVE_INFINITY
  }

  async resume(topic: string): Promise<void> {
    if (await this.#hasTable()) await this.#sql(`delete from ${this.#table} where name = $1`, [topic])
    this.#noticedAt = Number.NEGATIVE_INFINITY
  }

  async isPaused(topic: string): Promise<boolean> {
    this.#noticedAt = Number.NEGATIVE_INFINITY
    return this.isPausedNow(topic)
  }

  /** Whether a queue is paused, as known for at most a second. */
  async isPausedNow(topic: string): Promise<boolean> {
    const now = systemClock.monotonic()
    if (now - this.#noticedAt >= noticeEvery) {
      this.#noticedAt = now
      this.#paused.release()
    }
    return (await this.#paused.get()).has(topic)
  }

  async #hasTable(): Promise<boolean> {
    const { rows } = await this.#sql('select to_regclass($1) is not null as is_there', [this.#table])
    return rows[0]?.is_there === true
  }

  /** Whether an attempt still has its job, and not a later one, after a time without connection; one that is final is marked as the last. */
  async isHeld(topic: string, id: string, retries: number, isFinal: boolean): Promise<boolean> {
    const marked = 'case when $4 and retry_count = $3 then $3 + retry_limit + 1 else retry_count end'
    const text = `update job set retry_count = ${marked} where ${thisOf} and state = 'active' and ${attempt} returning id`
    return (await this.#rows(text, topic, id, retries, isFinal)).length > 0
  }

  /** Puts a job back that this process cannot handle, without counting the attempt. */
  async giveBack(topic: string, id: string, retries: number): Promise<void> {
    const text = `update job set state = 'created', start_after = now() + ${ms3}, started_on = null where ${thisOf} and state = 'active' and retry_count = $4`
    await this.#rows(text, topic, id, foreignPause(), retries)
  }

  /** Sets when a job is due whose attempt has failed, as pg-boss knows whole seconds and no `jitter`; takes the mark of a last attempt away. */
  async postpone(topic: string, id: string, retries: number, isFinal: boolean, ms: number | undefined): Promise<void> {
    const due = `case state when 'retry' then coalesce(now() + $5 * interval '1 millisecond', start_after) else start_after end`
    const text = `update job set retry_count = $3, start_after = ${due} where ${thisOf} and state in ('retry', 'failed') and ${attempt}`
    await this.#rows(text, topic, id, retries, isFinal, ms)
  }

  /** Deletes what was done a week ago, when pg-boss would: only what is done has an end. */
  async removeDone(topics: readonly string[]): Promise<void> {
    const done = "state = 'completed' and completed_on < now() - interval '7 days'"
    await this.#rows(`delete from job where name = any($1) and ${done}`, topics)
  }

  /** Makes an id free again whose job is done: pg-boss keeps finished jobs, and adds no other with their id. */
  async freeId(run: RunSql, topic: string, id: string, ttl: number | undefined): Promise<void> {
    const done = `${thisOf} and state = 'completed' and created_on <= now() - ${ms3}`
    await run(`delete from ${this.#schema}.job where ${done}`, [topic, id, ttl ?? 0])
  }

  /** Keeps the order of the jobs of one transaction, which all have its beginning as the time by which they are taken. */
  async keepOrder(run: RunSql, topic: string, id: string): Promise<void> {
    await run(`update ${this.#schema}.job set created_on = clock_timestamp() where name = $1 and id = $2`, [topic, id])
  }
}

/** The ids, and those that these have if publishers have chosen them. */
const both = (topic: string, ids: readonly string[]) => [...ids, ...ids.map((id) => uuidOf(topic, id))]

function stored(row: Row): StoredMessage {
  const { id, as_state, data, output, retry_count, retry_limit, created_on, start_after, started_on } = row
  const { payload, meta } = unwrap(data as object | null)
  const { message, stack } = Object(output) as { message?: unknown; stack?: unknown }
  return {
    ...{ id: String(id), state: as_state as MessageState, payload, meta },
    // The number of retries counts those that have begun; the mark of a last attempt is above their limit.
    attempt: (Number(retry_count) % (Number(retry_limit) + 1)) + (started_on === null ? 0 : 1),
    attempts: Number(retry_limit) + 1,
    publishedAt: timeOf(created_on),
    dueAt: as_state === 'delayed' ? timeOf(start_after) : undefined,
    errors: typeof message === 'string' ? [{ message, stack: typeof stack === 'string' ? stack : undefined }] : [],
  }
}

const timeOf = (column: unknown) => (column instanceof Date ? column.getTime() : undefined)
