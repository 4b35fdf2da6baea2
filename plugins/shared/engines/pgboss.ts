import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { systemClock } from '../../../kernel/index.ts'
import { withCause } from '../../../kernel/support/errors.ts'
import { peer } from '../environment/optional-package.ts'
import { addressOf } from '../stores/address.ts'
import { sweeping } from '../stores/tables.ts'
import { isUnreachable } from '../stores/unreachable.ts'
import { Memoized, madeIn, memoizedIn, sharing } from '../values/memoize.ts'
import { keptText, messageOf, safely } from '../values/safely.ts'
import { outsideTransactions, transactions, whenCommitted } from '../work/transactions.ts'
import type { Batch, Consumer, Deliver, DriverHost, QueueCounts, QueueDriver } from './contract.ts'
import { QueuePayloadError } from './errors.ts'
import { uuidOf } from './ids.ts'
import { metaOf, pauseAfter } from './meta.ts'
import type { PgbossSettings } from './options.ts'
import { unwrap, wrap } from './pgboss-data.ts'
import { PgbossOperations, type RunSql } from './pgboss-operations.ts'
import { Poller } from './poller.ts'
import { expiryShare, type PgbossTerms } from './publish-options.ts'

/** The types are those of version 12. What is used is the same from version 10 on. */
interface Boss extends Omit<PgBoss, 'getDb' | 'stop'> {
  stop(options: { graceful: boolean; close: boolean; wait: boolean; timeout?: number }): Promise<void>
  getDb(): BossDb
}

interface BossDb {
  /** Opens the pool of the connections that pg-boss makes itself; `start` does so, too. */
  open?(): Promise<void>
  close?(): Promise<void>
  readonly executeSql: RunSql
}

type MakeBoss = new (options: object) => Boss

/** The options of a message in the terms of pg-boss, with those that it does not have in this form. */
interface PgbossMessage extends PgbossTerms {
  readonly messageId?: { readonly value: string; readonly ttl: number | undefined }
}

/**
 * Of itself, pg-boss deletes a message that waits after 14 days, and one that has failed after 7 (version 10 after 12 hours). These are the seconds of 63
 * years; version 11 has no word for never.
 */
const kept = { retentionSeconds: 2_000_000_000, deleteAfterSeconds: 2_000_000_000 }

const creating: readonly unknown[] = ['40P01', '23514']

/**
 * Retries queries that failed because a queue was created at that moment. Version 10 creates a table for each: in a measurement with
 * three queues created at the same time, that deadlocked with itself and with publishers (40P01); and a publisher that sees the new queue
 * may not see its table yet (23514, no partition).
 */
async function unlocked<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!creating.includes((error as { code?: unknown }).code) || tries === 10) throw error
      await systemClock.sleep(Math.random() * 50 * tries)
    }
  }
}

/** Explains what Postgres refuses by its data, such as a `startAfter` that is not a time or a `singletonKey` with NUL: class 22. */
function explained(topic: string, error: unknown): unknown {
  if (!String((error as { code?: unknown }).code).startsWith('22')) return error
  return withCause(QueuePayloadError(topic, `or an option of it is refused by Postgres: ${messageOf(error)}`), error)
}

/** Queues in Postgres. */
export class PgbossDriver implements QueueDriver<PgbossMessage> {
  readonly operations = () => this.#jobs
  readonly #jobs: PgbossOperations
  readonly #make: MakeBoss
  readonly #config: PgbossSettings
  readonly #host: DriverHost
  readonly #queues = new Map<string, Promise<boolean>>()
  readonly #sweep = sweeping(() => this.#jobs.removeDone([...this.#queues.keys()]))
  readonly #pollers = new Map<string, Set<Poller>>()
  /** The started pg-boss; after a failure the next caller tries to start it again. */
  readonly #boss = new Memoized(() => outsideTransactions(() => this.#start()))
  /** Shared, because each query of a Postgres that does not respond takes a connection from the pool. */
  readonly ping = sharing(() => this.#askOnce())
  #closed = false

  private constructor(make: MakeBoss, config: PgbossSettings, host: DriverHost) {
    this.#make = make
    this.#config = config
    this.#host = host
    const sql: RunSql = async (text, values) => (await this.#boss.get()).getDb().executeSql(text, values)
    this.#jobs = new PgbossOperations(sql, config.schema)
  }

  /** Loads the packages; connects to nothing yet. */
  static async load(config: PgbossSettings, host: DriverHost): Promise<PgbossDriver> {
    const loaded = (await peer('pg-boss', () => import('pg-boss'), 'a queue of pg-boss (pgbossQueue)')) as object
    // Version 12 exports its class by name, version 10 as the default.
    const { PgBoss, default: fallback } = loaded as { PgBoss?: MakeBoss; default?: MakeBoss }
    return new PgbossDriver((PgBoss ?? fallback)!, config, host)
  }

  #construct(): Boss {
    if (this.#closed) throw new Error('the connection to Postgres is closed')
    const { connectionString, schema, max, ssl, options } = this.#config
    const boss = new this.#make({
      connectionString: addressOf('postgres', connectionString),
      // A lost pool would leave callers waiting for ever.
      connectionTimeoutMillis: this.#config.publishTimeout,
      schema,
      max,
      ...(ssl === undefined ? {} : { ssl }),
      // The cron plugin does that; watching clocks and schedules costs queries.
      schedule: false,
      // Of version 10, which has no such option for a queue or a message.
      archiveFailedAfterSeconds: kept.deleteAfterSeconds,
      ...options,
    })
    // Without a listener the process would end. An error other than a lost connection is reported each time.
    boss.on('error', (error) => {
      if (this.#closed) return
      if (isUnreachable(error)) this.#host.down(error)
      else this.#host.warn('pg-boss', error)
    })
    return boss
  }

  async #start(): Promise<Boss> {
    const boss = this.#construct()
    try {
      await boss.start()
    } catch (error) {
      await boss.stop({ graceful: false, close: true, wait: false }).catch(() => {})
      throw error
    }
    this.#host.up()
    return boss
  }

  /** The started pg-boss, with this queue: created if it is missing, which is checked once for each. */
  async #with(topic: string): Promise<Boss> {
    const boss = await this.#boss.get()
    await memoizedIn(this.#queues, topic, () => this.#create(boss, topic))
    this.#sweep()
    return boss
  }

  /** Creates a queue if it is missing; returns whether it was. */
  async #create(boss: Boss, topic: string): Promise<boolean> {
    if ((await boss.getQueue(topic)) !== null) return false
    // Without effect if another process was faster. Dead letters that pg-boss makes have the times of their queue.
    await unlocked(() => boss.createQueue(topic, { ...kept }))
    return true
  }

  /** Runs a query, and again if its queue was deleted: pg-boss then adds no job, says nothing for a minute, and throws later. */
  async #live<Result>(boss: Boss, topic: string, run: () => Promise<Result>): Promise<Result | null> {
    const unless = async (error?: unknown) => {
      if (await this.#create(boss, topic)) return run()
      if (error !== undefined) throw explained(topic, error)
      return null
    }
    return (await run().catch(unless)) ?? unless()
  }

  async publish(topic: string, { texts, options, metas, signal }: Batch<PgbossMessage>): Promise<string[]> {
    const boss = await this.#with(topic)
    for (const one of options) if (one?.deadLetter !== undefined) await this.#with(one.deadLetter)
    const send = async (text: string, i: number) => {
      const { client, messageId, ...rest } = options[i] ?? {}
      const data = wrap(JSON.parse(text), metas[i])
      const executeSql = ((sql, values = []) =>
        client === undefined ? boss.getDb().executeSql(sql, values) : client.query(sql, values)) as RunSql
      const id = messageId && uuidOf(topic, messageId.value)
      if (id !== undefined) await this.#jobs.freeId(executeSql, topic, id, messageId!.ttl)
      const settings = { ...rest, ...kept, ...(id !== undefined && { id }) }
      const run = async () => {
        // A queue may have been created in the meantime, an id made free, or a deadlock ended.
        signal.throwIfAborted()
        return boss.send(topic, data, client ? { ...settings, db: { executeSql } } : settings)
      }
      // After a deadlock a transaction accepts no further query, so only its owner can start it again.
      const made = await this.#live(boss, topic, () => (client ? run() : unlocked(run)))
      // Another client may be that of a user who may only insert.
      if (made && client && client === transactions.getStore()) await this.#jobs.keepOrder(executeSql, topic, made)
      // No job was created because one with this id exists.
      return made ?? id ?? rest.singletonKey ?? ''
    }
    const ids: string[] = []
    // A client runs one query at a time.
    if (options.some((one) => one?.client)) for (const [i, text] of texts.entries()) ids.push(await send(text, i))
    else ids.push(...(await Promise.all(texts.map(send))))
    const wake = () => this.#pollers.get(topic)?.forEach((poller) => void poller.wake())
    // What is part of a transaction cannot be taken before its commit.
    whenCommitted(`a message of the queue "${topic}"`, wake, undefined)
    return ids
  }

  consume(topic: string, deliver: Deliver, { concurrency }: { concurrency: number }): Consumer {
    const poller = new Poller({
      topic,
      concurrency,
      idle: this.#config.pollInterval,
      host: this.#host,
      take: async (max) => {
        const boss = await this.#with(topic)
        if (await this.#jobs.isPausedNow(topic)) return []
        const fetch = async () => (await boss.fetch<object>(topic, { batchSize: max, includeMetadata: true })) ?? []
        const jobs = (await this.#live(boss, topic, () => unlocked(fetch)))!
        return jobs.map((job) => () => this.#run(boss, topic, job, deliver))
      },
    })
    const pollers = madeIn(this.#pollers, topic, () => new Set<Poller>()).add(poller)
    void poller.ended.then(() => pollers.delete(poller))
    return poller
  }

  async #run(boss: Boss, topic: string, job: JobWithMetadata, deliver: Deliver): Promise<void> {
    const { id, data, retryCount, retryLimit, expireInSeconds } = job
    const timeout = Math.min(Number(expireInSeconds) * 1000, 2_147_483_647) * expiryShare
    const { payload, meta } = unwrap(data)
    const delivery = { id, attempt: retryCount + 1, attempts: retryLimit + 1, meta, timeout }
    const outcome = await deliver(payload, delivery)
    if (outcome.ok) return this.#settle(topic, () => boss.complete(topic, job.id))
    if (outcome.isForeign) return this.#settle(topic, () => this.#jobs.giveBack(topic, id, retryCount))
    const { error } = outcome
    // Parsers quote what they were given, and texts are cut in the middle of an emoji.
    const output = { message: keptText(messageOf(error)), stack: safely(() => error.stack && keptText(error.stack)) }
    const { backoff } = metaOf(meta, topic)
    const pause = backoff && pauseAfter(delivery.attempt, backoff)
    return this.#settle(topic, async () => {
      // pg-boss cannot end a job before its last attempt.
      if (await this.#jobs.isHeld(topic, id, retryCount, outcome.final)) await boss.fail(topic, id, output)
      if (outcome.final || pause !== undefined) await this.#jobs.postpone(topic, id, retryCount, outcome.final, pause)
    })
  }

  /** Stores the outcome of a handler, which would run again otherwise: retried until it succeeds or is given up. */
  async #settle(topic: string, note: () => Promise<unknown>): Promise<void> {
    for (let failures = 0; !this.#closed; failures++) {
      try {
        await unlocked(note)
        return
      } catch (error) {
        if (!isUnreachable(error)) {
          const what = `the queue "${topic}": the outcome of a job could not be saved, so the job will run again`
          return this.#host.warn(what, error)
        }
        this.#host.down(error)
        await systemClock.sleep(Math.min(100 * 2 ** failures, 1000))
      }
    }
  }

  counts(topic: string): Promise<QueueCounts> {
    return this.#jobs.counts(topic)
  }

  async #askOnce(): Promise<void> {
    const boss = await this.#boss.made
    const db = (boss ?? this.#construct()).getDb()
    // Starting pg-boss would create or migrate its tables, which a check must not do. A connection of the application is open anyway.
    const isOwn = boss === undefined && this.#config.options?.db === undefined
    if (isOwn) await db.open!()
    try {
      await db.executeSql('select 1', [])
    } finally {
      if (isOwn) await db.close!()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const boss = await this.#boss.release()?.catch(() => undefined)
    await boss?.stop({ graceful: false, close: true, wait: true, timeout: 1000 })
  }
}
