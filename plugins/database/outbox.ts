import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { type Logger, systemClock, type Timer } from '../../kernel/index.ts'
import { Availability, reporting } from '../shared/stores/availability.ts'
import { dialects, ensureTable } from '../shared/stores/tables.ts'
import { madeIn, sharing } from '../shared/values/memoize.ts'
import { keptText } from '../shared/values/safely.ts'
import { inServer } from '../shared/work/contexts.ts'
import { deliverersOf, type OutboxMessage } from '../shared/work/outbox.ts'
import type { Connection, DriverSettings, OpenDriver, QueryResult, TableHost } from './drivers/contract.ts'
import { channel, listenUntil } from './listener.ts'

/** A message that this process delivers. */
interface Claimed {
  readonly id: string | number
  readonly key: string
  readonly data: string
  readonly attempts: number
}

/** The messages of one sender. */
export interface OutboxCounts {
  readonly sender: string
  readonly messages: number
  /** Milliseconds since the oldest was written. */
  readonly oldest: number
}

type OutboxSettings = Exclude<DriverSettings['outbox'], false>
type TextName = 'store' | 'claim' | 'next' | 'take' | 'remove' | 'postpone' | 'due' | 'counts'

// A name that no client can use: NUL is refused in headers and properties.
const bytesName = '\0bytes'

function withBytes(this: { readonly [name: string]: unknown }, name: string, value: unknown): unknown {
  const bytes = this[name]
  return bytes instanceof Uint8Array ? { [bytesName]: Buffer.from(bytes).toString('base64') } : value
}

function bytesBack(_name: string, value: unknown): unknown {
  const text = (value as { [bytesName]?: unknown } | null)?.[bytesName]
  return typeof text === 'string' ? Buffer.from(text, 'base64') : value
}

/** Milliseconds for which a message belongs to a process, which extends them: a dead one no longer does. */
const lease = 10_000
const claim = readFileSync(new URL('./outbox/claim.sql', import.meta.url), 'utf8')
/** How many keys of one sender a process delivers at the same time: a sender that does not respond must not stop the others. */
const concurrency = 10
/** How many messages of one key are delivered before others have their turn. */
const inOneTurn = 100
const maxPause = 60_000
/** Some ten thousand years. */
const never = 1e15

/**
 * The messages of one database that wait for their delivery. Only the first of a key can be claimed, by one process, so the order of a key is kept:
 * its first deliveries are in order, and a message that was delivered by a process that died before it could remove it is delivered again.
 */
export class Outbox {
  readonly server: object
  readonly #client: TableHost
  readonly #settings: OutboxSettings
  readonly #log: Logger
  readonly #texts: Readonly<Record<TextName, string>>
  /** The keys in progress, and whether to look for more, by sender. */
  readonly #lanes = new Map<string, { running: number; isLooking: boolean; isWoken: boolean }>()
  readonly #held = new Set<Claimed['id']>()
  readonly #busy = new Set<Promise<void>>()
  // What is delivered belongs to no request, although its commit may have begun it.
  readonly #outside = AsyncLocalStorage.snapshot()
  readonly #timers: Timer[] = []
  readonly #listen: OpenDriver['listen']
  #listening: Promise<void> | undefined
  #isDraining = false
  readonly #ending = new AbortController()
  readonly #availability: Availability

  /** `listen`: how it is notified of messages of other processes. */
  constructor(client: TableHost, settings: OutboxSettings, server: object, log: Logger, listen: OpenDriver['listen']) {
    this.#client = client
    this.#settings = settings
    this.server = server
    this.#log = log.child({ database: client.name })
    const down = 'the outbox does not work: its messages wait'
    this.#availability = new Availability(reporting(this.#log, down, 'the outbox works again'))
    this.#listen = settings.listen === false ? undefined : listen
    const { table } = settings
    const { now, key } = dialects[client.system]
    const isMysql = client.system === 'mysql'
    const locked = client.system === 'postgresql' ? 'for update of o skip locked' : ''
    const due = `update ${table} set due_at = ${now} + ${lease}`
    const columns = `id, ${key}, data, attempts`
    // MySQL returns nothing from an update: there, each one found is taken by an update of its own.
    const claimed = isMysql ? `select ${columns} from ${table}` : due
    const returned = isMysql ? 'order by id' : `returning ${columns}`
    const parts: { readonly [name: string]: string } = { table, now, locked, claimed, returned }
    const store = `insert into ${table} (sender, ${key}, data, created_at, due_at) values ($1, $2, $3, ${now}, ${now})`
    this.#texts = {
      // Part of the transaction: also a process that dies right after the commit has notified the others.
      store: this.#listen ? `with stored as (${store}) select pg_notify('${channel}', $1)` : store,
      take: `${due} where id = $1 and due_at <= ${now}`,
      // Grouped by both columns, it goes from key to key by the index: of 100 000 messages in 2 ms, and not in 90.
      claim: isMysql
        ? `${claimed} where id in (select id from (select min(id) as id from ${table} where sender = $1 group by sender, ${key}) heads) and due_at <= ${now} ${returned} limit ${concurrency}`
        : claim.replace(/{(\w+)}/g, (_, name) => parts[name]!),
      next: `${claimed} where id = (select id from ${table} where sender = $1 and ${key} = $2 and id <> $3 order by id limit 1) and due_at <= ${now} ${returned}`,
      remove: `delete from ${table} where id = $1`,
      postpone: `update ${table} set due_at = ${now} + $1, attempts = attempts + $2, error = $3, sender = $4 where id = $5`,
      due: `select distinct sender from ${table} where due_at <= ${now}`,
      counts: `select sender, count(*) as messages, ${now} - min(created_at) as oldest from ${table} group by sender order by sender`,
    }
  }

  /** Makes the table. */
  open(): Promise<void> {
    const { id, name, text, key } = dialects[this.#client.system]
    const columns = `id ${id}, sender ${name} not null, ${key} ${name} not null, data ${text} not null, created_at double precision not null, due_at double precision not null, attempts integer not null default 0, error text, unique (sender, ${key}, id)`
    return ensureTable(this.#client, `the outbox of the database "${this.#client.name}"`, this.#settings.table, columns)
  }

  /** Writes a message with a connection. */
  store(connection: Connection, { sender, key, data }: OutboxMessage): Promise<QueryResult> {
    return connection.query(this.#texts.store, [sender, key, JSON.stringify(data, withBytes)])
  }

  /** Looks for messages of other processes from now on. */
  start(): void {
    if (this.#timers.length > 0 || this.#isEnding) return
    const every = (ms: number, work: () => Promise<void>) => {
      // One at a time: where the table is locked, they would take all connections.
      const run = sharing(() => this.#outside(() => this.#tracked(this.#availability.watch(work))))
      const timer = systemClock.setInterval(() => void run(), ms)
      timer.unref()
      this.#timers.push(timer)
    }
    const look = async () => {
      const { rows } = await this.#query<{ sender: string }>('due', [])
      for (const { sender } of rows) this.#wakeAgain(sender)
    }
    every(this.#settings.pollInterval, look)
    every(lease / 3, () => this.#extend())
    const listen = this.#listen
    if (listen === undefined) return
    const on = {
      open: () => void this.#tracked(this.#availability.watch(look)),
      message: (sender: string) => this.#wakeAgain(sender),
    }
    this.#listening = this.#outside(() => listenUntil(this.#ending.signal, listen, on, this.#log))
  }

  /** Looks for messages of a sender that this process does not have to deliver itself. */
  #wakeAgain(sender: string): void {
    if (!this.#isDraining) this.wake(sender)
  }

  /** Looks for messages of a sender. */
  wake(sender: string): void {
    this.start()
    if (!deliverersOf(this.server).has(sender)) return
    const lane = madeIn(this.#lanes, sender, () => ({ running: 0, isLooking: false, isWoken: false }))
    lane.isWoken = true
    if (lane.isLooking || this.#isEnding) return
    lane.isLooking = true
    const look = this.#availability.watch(async () => {
      try {
        while (lane.isWoken && lane.running < concurrency && !this.#isEnding) {
          lane.isWoken = false
          const max = concurrency - lane.running
          for (const first of await this.#claim('claim', [sender, max], max)) {
            lane.running++
            void this.#tracked(this.#availability.watch(() => this.#deliverFrom(sender, first))).then(() => {
              lane.running--
              this.#wakeAgain(sender)
            })
          }
        }
      } finally {
        // In the same turn as the last look: a wake in between would be lost.
        lane.isLooking = false
      }
    })
    void this.#tracked(look)
  }

  /** The messages that wait, by sender. */
  async counts(): Promise<OutboxCounts[]> {
    const { rows } = await this.#query<OutboxCounts>('counts', [])
    return rows.map(({ sender, messages, oldest }) => ({ sender, messages: Number(messages), oldest: Number(oldest) }))
  }

  /** How many keys this process delivers at the moment. */
  get running(): number {
    return this.#held.size
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  /** Waits for what is being delivered, and claims only for what this process still commits: others deliver the rest. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (this.#busy.size > 0) await Promise.all(this.#busy)
  }

  /** Claims nothing more, and waits for what is being delivered. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const timer of this.#timers) systemClock.clear(timer)
    await this.#listening
    await this.drain()
  }

  /** Claims messages, at most `max`. */
  async #claim(name: 'claim' | 'next', values: readonly unknown[], max: number): Promise<Claimed[]> {
    const { rows } = await this.#query<Claimed>(name, values)
    if (this.#client.system !== 'mysql') return rows
    const taken: Claimed[] = []
    // Another process may have been faster.
    for (const row of rows.slice(0, max)) if ((await this.#query('take', [row.id])).count > 0) taken.push(row)
    return taken
  }

  #query<Row extends object>(name: TextName, values: readonly unknown[]): Promise<QueryResult<Row>> {
    return this.#outside(() => this.#client.query<Row>(this.#texts[name], values))
  }

  /** Makes `drain` wait for it. */
  #tracked(work: Promise<void>): Promise<void> {
    this.#busy.add(work)
    void work.then(() => this.#busy.delete(work))
    return work
  }

  async #extend(): Promise<void> {
    if (this.#held.size === 0) return
    const list = [...this.#held].map((_, index) => `$${index + 1}`).join(', ')
    const text = `update ${this.#settings.table} set due_at = ${dialects[this.#client.system].now} + ${lease} where id in (${list})`
    await this.#client.query(text, [...this.#held])
  }

  /** Delivers a message and those after it with the same key. */
  async #deliverFrom(sender: string, first: Claimed): Promise<void> {
    const deliver = deliverersOf(this.server).get(sender)!
    let row: Claimed | undefined = first
    for (let turn = 1; row !== undefined; turn++) {
      try {
        this.#held.add(row.id)
        const data = JSON.parse(row.data, bytesBack) as never
        await this.#outside(() => inServer(this.server, () => deliver(data)))
      } catch (error) {
        await this.#failed(sender, row, error as Error)
        return
      } finally {
        this.#held.delete(row.id)
      }
      row = await this.#following(sender, row, turn < inOneTurn && !this.#isDraining)
    }
  }

  /** Removes a delivered message, and claims the next one of its key before: in between, another process could claim it, and the one after it. */
  async #following(sender: string, { id, key }: Claimed, claims: boolean): Promise<Claimed | undefined> {
    const next = claims ? await this.#claim('next', [sender, key, id], 1) : []
    await this.#query('remove', [id])
    return next[0]
  }

  async #failed(sender: string, { id, key, attempts }: Claimed, error: Error): Promise<void> {
    // The data of one client, for which all others would wait. A wrong option may be one of the service, which is mended.
    const isRefused = !this.#isEnding && (error as { code?: unknown }).code === 'QueuePayloadError'
    // Closing ends the connections of the senders: that is not a failure of the message.
    const pause = this.#isEnding ? 0 : isRefused ? never : Math.min(1_000 * 2 ** attempts, maxPause)
    // With a sender that is never looked for it stops no others, and no claim passes it.
    const next = isRefused ? `${sender} refused` : sender
    await this.#query('postpone', [pause, Number(!this.#isEnding), keptText(error.message).slice(0, 500), next, id])
    const fields = { err: error, sender, key, attempt: attempts + 1 }
    const then = isRefused ? `it has no further attempt (row ${id})` : `next attempt in ${pause} ms`
    if (!this.#isEnding) this.#log.error(fields, `a message of the outbox was not delivered, and stays; ${then}`)
  }
}
