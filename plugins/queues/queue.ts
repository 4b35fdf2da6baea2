import { randomUUID } from 'node:crypto'
import { clock, isOptions, OptionError, quoted, Trace, type TraceOutcome } from '../../kernel/index.ts'
import type { MethodMark } from '../shared/decorators/decorator.ts'
import type { Batch, QueueCounts } from '../shared/engines/contract.ts'
import type { EngineRef, Unresolved } from '../shared/engines/custom.ts'
import { dangerous, QueuePayloadError, QueueServerError, refuseUnkept } from '../shared/engines/errors.ts'
import { memoryTermsOf } from '../shared/engines/memory-terms.ts'
import type { Meta } from '../shared/engines/meta.ts'
import type { MessageSettings, PublishOptions, RepeatSettings } from '../shared/engines/publish-options.ts'
import { checkFor } from '../shared/engines/publish-options.ts'
import { deprecation } from '../shared/failures/deprecation.ts'
import { defined } from '../shared/values/json.ts'
import { reachesPrototype } from '../shared/values/json-dangers.ts'
import { changedByJson, jsonText } from '../shared/values/json-text.ts'
import { currentTenant, inTenant, nameInTenant } from '../shared/values/tenants.ts'
import { type Carrier, carrierOf } from '../shared/work/carrier.ts'
import { outboxFor, transactions, whenCommitted } from '../shared/work/transactions.ts'
import type { QueueBatchHandler, QueueHandler } from './batch.ts'
import { methodDecorator, type QueueMethod } from './decorator.ts'
import type { Engines } from './engines.ts'
import { declareQueue } from './registry.ts'
import { keyOf, tickTtl } from './repeats.ts'
import { payloadCheck } from './schema.ts'
import { type QueueService, queuesOf, type StoredBatch, servers, subscribers } from './service.ts'
import type { SubscribeBatchOptions, SubscribedQueue, SubscribeOptions, Subscriber } from './subscription.ts'
import { subscribeBatchOptions, subscribeOptions } from './subscription.ts'

/** A handle of one subscriber, to remove it. */
export interface QueueHandle {
  /** Removes this subscriber: no further message reaches it, and one in progress is finished. Others are not affected. */
  unsubscribe(): Promise<void>
}

/** Messages that are passed to their engine. */
export interface QueuePublishTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The name of the queue. */
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
  /** How many messages are published together. */
  readonly count: number
  /** The payload of each. */
  readonly payloads: readonly unknown[]
  /** The id of each, once the engine has them. */
  ids?: readonly string[]
  /** Empty at first; what a subscriber of `start` puts here is sent with each message and arrives in `QueueAttemptTrace.carrier`. */
  readonly carrier: Carrier
}

const publishTrace = new Trace<QueuePublishTrace>('queue.publish')

/** Options for each message of a batch, or one for all. */
export type BatchOptions<Payload, Options> = Options | ((payload: Payload, index: number) => Options | undefined)

type Outbox = NonNullable<ReturnType<typeof outboxFor>>

/** Messages on their way to their engine. */
interface Sending extends Pick<Batch<object>, 'texts' | 'options'> {
  readonly engines: Engines
  readonly engine: SubscribedQueue
  readonly payloads: readonly unknown[]
  readonly settings: readonly MessageSettings[]
  /** Of the caller: after a commit, or in an outbox, another one may be current. */
  readonly tenant: string | undefined
}

/** The parts of a queue. */
export interface QueueDefinition extends Omit<Unresolved<SubscribedQueue>, 'check'> {
  /** The options of its messages, unless `publish` has others. */
  readonly defaults?: object
  /** Whether the engine receives the options as they are written. */
  readonly isForeign?: boolean
}

const reportDeprecated = deprecation(
  'FRAMEWORK_DEP0003',
  '@queue.subscribe() is deprecated; write @queue.subscribeMethod()',
)

/** A queue of payloads of one type. */
export class Queue<Payload, Options = PublishOptions, Received = Payload> {
  /** The name by which the engine knows the queue. */
  readonly name: string
  readonly #self: QueueDefinition & Unresolved<SubscribedQueue>
  readonly #server: object | undefined
  /** Its name in messages. */
  readonly #what: string
  /** The settings of a message without options, by engine. */
  readonly #usual = new Map<string, MessageSettings>()

  /** `server`: the one that it belongs to; without one, that of the code that uses it. @internal */
  constructor(definition: QueueDefinition, server?: object) {
    const { name, kind, pubsub, schema } = definition
    checkName(name, kind)
    this.name = name
    this.#what = `the queue "${name}"`
    this.#self = { ...definition, check: schema === undefined ? undefined : payloadCheck(name, schema) }
    this.#server = server
    // What the engine cannot have is an error where the queue is made or, if the configuration decides, where a server boots.
    const settings = (of: EngineRef) => {
      checkName(name, of.kind)
      this.#settingsOf({ ...this.#self, ...of }, undefined, kind === undefined ? 'queue' : `${kind}Queue`)
    }
    settings({ kind: kind ?? 'memory', pubsub })
    if (server === undefined) declareQueue({ ...this.#self, settings })
  }

  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  get kind(): string {
    return this.#self.kind ?? this.#resolved.kind
  }

  get #resolved(): SubscribedQueue {
    return this.engines.resolve<SubscribedQueue>(this.#self)
  }

  /**
   * Returns this queue as that of one server, for code that no request, job or hook of the server runs, in a process with several servers.
   *
   * @throws QueueServerError if the server has no queues.
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * const server = new Server({ background: { queues: { run: true } } })
   * await server.ready()
   * await orders.for(server).publish({ book: 1 })
   */
  for(server: object): this {
    if (servers.of(server) === undefined) throw QueueServerError(this.name)
    return new (this.constructor as new (definition: QueueDefinition, server: object) => this)(this.#self, server)
  }

  get #queues(): QueueService {
    return (this.#server && servers.of(this.#server)) ?? queuesOf(this.#what)
  }

  /** The same, for what a closed server no longer does. */
  get #openQueues(): QueueService {
    return (this.#server && servers.open(this.#server, this.#what)) ?? queuesOf(this.#what)
  }

  /** The engines through which a call goes. @internal */
  get engines(): Engines {
    return this.#queues.engines
  }

  /**
   * Publishes one message; resolves with its `id` once the engine has it. In a transaction of the plugin `database`, the message leaves after the
   * commit, and `id` is that of its options, or empty; with an outbox, it is the one that subscribers receive. A message of pg-boss in its own
   * database is a row of the transaction.
   *
   * @throws (as a rejection) QueueUnavailableError within `publishTimeout`, 5 seconds by default, when the engine cannot be reached;
   * QueuePayloadError for a payload that JSON cannot represent or the schema refuses; OptionError for options the engine does not have.
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * await orders.publish({ book: 1 }, { attempts: 3, backoff: { type: 'exponential', delay: 1000 } })
   */
  async publish(payload: Payload, options?: Options): Promise<{ id: string }> {
    const { engines } = this.#openQueues
    const engine = engines.resolve<SubscribedQueue>(this.#self)
    const settings = this.#settingsOf(engine, options)
    if (settings.repeat !== undefined) return this.#repeat(payload, settings.repeat, options)
    const sent = this.#send(engines, engine, [payload], [settings])
    return { id: (sent instanceof Promise ? await sent : sent)[0]! }
  }

  /**
   * Publishes many messages with as few calls as the engine allows; resolves with the `id` of each, in the same order.
   *
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * await orders.publishMany([{ book: 1 }, { book: 2 }], ({ book }) => ({ id: `order-${book}` }))
   */
  async publishMany(payloads: readonly Payload[], options?: BatchOptions<Payload, Options>): Promise<{ id: string }[]> {
    if (!Array.isArray(payloads)) throw OptionError('publishMany', payloads, 'an array of payloads')
    if (payloads.length === 0) return []
    const { engines } = this.#openQueues
    // Read as soon as the function has returned them, since it may return one object that it changes.
    const engine = engines.resolve<SubscribedQueue>(this.#self)
    const each = options as (one: Payload, i: number) => Options | undefined
    const shared = typeof options === 'function' ? undefined : this.#settingsOf(engine, options as Options | undefined)
    const settings = payloads.map((payload, i) => shared ?? this.#settingsOf(engine, each(payload, i)))
    if (settings.some(({ repeat }) => repeat !== undefined))
      throw OptionError('publishMany.repeat', undefined, 'nothing: publish each repetition by itself')
    return (await this.#send(engines, engine, payloads, settings)).map((id) => ({ id }))
  }

  /** Begins a repetition. */
  async #repeat(payload: Payload, when: RepeatSettings, options: Options | undefined): Promise<{ id: string }> {
    const { engines, repeats } = this.#queues
    // It may begin before the configuration of its server is known.
    const resolved = () => engines.resolve<SubscribedQueue>(this.#self)
    const text = this.#textOf(payload, resolved())
    await this.#self.check?.(JSON.parse(text))
    const { repeat: _, ...rest } = options as PublishOptions
    // A tick comes from a timer, and a key of one tenant is not that of another.
    const tenant = currentTenant()
    repeats.locksFor(resolved())
    repeats.begin(this.#self, { ...when, key: nameInTenant(when.key) }, (tick) =>
      inTenant(tenant, async () => {
        const engine = resolved()
        const locks = repeats.locksFor(engine)
        const id = locks === undefined ? { value: tick.id, ttl: tickTtl } : undefined
        const settings = this.#settingsOf(engine, { ...rest, id } as Options)
        if (locks === undefined || (await locks.claimTick({ ...tick, key: keyOf(engine, tick.key) })))
          await this.#send(engines, engine, [JSON.parse(text)], [settings])
      }),
    )
    return { id: when.key }
  }

  #textOf(payload: Payload, engine: SubscribedQueue): string {
    const text = jsonText(payload, (why) => QueuePayloadError(this.name, why))
    if (text.includes('proto') && reachesPrototype(JSON.parse(text))) throw QueuePayloadError(this.name, dangerous)
    refuseUnkept(engine, text)
    return text
  }

  /** Throws or rejects. What needs no waiting is done at once: a promise would take a tenth of the time of a message in memory. */
  #send(engines: Engines, engine: SubscribedQueue, payloads: readonly Payload[], settings: readonly MessageSettings[]) {
    const { check } = engine
    // Serialised before anything is awaited: the caller may change the payload afterwards.
    const texts = payloads.map((payload) => this.#textOf(payload, engine))
    const options = settings.map(({ native }) => native)
    const sending = { engines, engine, payloads, settings, texts, options, tenant: currentTenant()?.id }
    // Checked as it will arrive, but published as given, so that a schema does not change it twice.
    const leave = () => this.#leave(sending)
    return check === undefined ? leave() : Promise.all(texts.map((text) => check(JSON.parse(text)))).then(leave)
  }

  #leave(sending: Sending): string[] | Promise<string[]> {
    if (transactions.getStore() === undefined) return this.#pass(sending)
    const { engines, engine, settings } = sending
    const client = engines.transactionOf(engine)
    const options = client ? sending.options.map((native) => ({ client, ...native })) : sending.options
    // With a client, that of the running transaction or of the options, the message is part of the transaction itself. An engine of the
    // application may have an option of this name.
    const inside = this.#self.isForeign ? [] : options.filter((one) => one !== undefined && 'client' in one)
    if (inside.length > 0 && inside.length < options.length)
      throw OptionError('publishMany.client', undefined, 'a client for each message in a transaction, or for none')
    const store = inside.length > 0 ? undefined : outboxFor(engines.server)
    const pass = () => this.#pass({ ...sending, options }, store)
    if (inside.length > 0 || store) return pass()
    return whenCommitted(
      `a message of ${this.#what}`,
      pass,
      settings.map(({ meta }) => meta?.id ?? ''),
    )
  }

  // Not async: the stack of a refusal would hold this function, and with it the texts, for as long as its error is kept.
  #pass(sending: Sending, store?: Outbox, event?: QueuePublishTrace): string[] | Promise<string[]> {
    const { engines, engine, payloads, settings, texts, options, tenant } = sending
    const { kind, name } = engine
    if (event === undefined && publishTrace.isOn) {
      const made = () => ({ server: engines.server, queue: name, kind, count: texts.length, payloads, carrier: {} })
      return publishTrace.run(made, (event) => this.#pass(sending, store, event))
    }
    const carrier = event && carrierOf(event.carrier)
    const metas = settings.map((one) => metaFor(one, engine, carrier, tenant))
    const sent = store
      ? this.#store(store, { name, kind, texts, options, metas })
      : engines.ask(engine, (driver, signal) => driver.publish(name, { texts, options, metas, signal }))
    if (event === undefined && !settings.some(hasId)) return sent
    const known = (ids: string[]) => ids.map((id, i) => settings[i]!.meta?.id ?? id)
    return Promise.resolve(sent).then((ids) => Object.assign(event ?? {}, { ids: known(ids) }).ids)
  }

  /** Leaves messages to the outbox. One that is delivered again keeps its id, by which `once` recognises it. */
  async #store(store: Outbox, batch: StoredBatch): Promise<string[]> {
    const metas = batch.metas.map((meta) => ({ ...meta, id: meta?.id ?? randomUUID() }))
    const changed = this.#self.isForeign ? changedByJson(batch.options.map((one) => one ?? null)) : undefined
    if (changed !== undefined)
      throw QueuePayloadError(this.name, `has options with ${changed}, which the outbox cannot keep`)
    await store({ sender: 'queues', key: this.name, data: { ...batch, metas } })
    return metas.map(({ id }) => id)
  }

  #settingsOf(engine: SubscribedQueue, options: Options | undefined, path = 'publish'): MessageSettings {
    const { standsFor } = engine
    // Read as its engine does, so that a test refuses what that would refuse.
    if (standsFor !== undefined)
      return memoryTermsOf(standsFor.kind, this.#readAs(standsFor, options, path), clock.now())
    const usual = options === undefined ? this.#usual.get(engine.kind) : undefined
    if (usual !== undefined) return usual
    const made = this.#readAs(engine, options, path)
    if (options === undefined) this.#usual.set(engine.kind, made)
    return made
  }

  #readAs(engine: EngineRef, options: Options | undefined, path: string): MessageSettings {
    const { defaults, isForeign } = this.#self
    if (options !== undefined && !isOptions(options)) throw OptionError(path, options, 'an object of options')
    if (isForeign)
      return { native: options as object | undefined, meta: undefined, expireIn: undefined, repeat: undefined }
    const portable = this.#self.kind === undefined && engine.kind === 'pgboss' ? { attempts: 1 } : undefined
    const given = { ...portable, ...defaults, ...(options as object | undefined) }
    return checkFor(engine, this.name).parse(given as never, path)
  }

  /**
   * Declares a subscriber. It is active while this process runs its queues: see `QueueService.run` and the option
   * `background.queues`. A subscriber of a queue in memory is active immediately where no server is responsible.
   *
   * Several subscribers share the messages: each goes to one of them.
   *
   * @throws (as a rejection) when the queues are already running and the engine is not configured or not installed.
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * const handle = await orders.subscribe(async ({ book }) => console.log(book), { concurrency: 5 })
   * await handle.unsubscribe()
   */
  subscribe(handler: QueueHandler<Received>, options?: SubscribeOptions<Received>): Promise<QueueHandle>
  /** @deprecated Use `subscribeMethod()`. */
  subscribe(): MethodMark<QueueMethod<Received>>
  subscribe(
    ...given: [] | [handler: QueueHandler<Received>, options?: SubscribeOptions<Received>]
  ): Promise<QueueHandle> | MethodMark<QueueMethod<Received>> {
    if (given.length > 0) return this.#subscribe(...(given as [QueueHandler<Received>]))
    reportDeprecated()
    return this.subscribeMethod()
  }

  async #subscribe(handler: QueueHandler<Received>, options?: SubscribeOptions<Received>): Promise<QueueHandle> {
    return this.#add(this.#declare(handler, options))
  }

  /**
   * Declares a subscriber that receives several messages in one call: up to `size` of them, or those that have come within `wait` milliseconds after
   * the first. If the call throws or rejects, the attempt of each of them has failed. `concurrency` is the number of calls at once.
   *
   * @example
   * const rows = memoryQueue<{ name: string }>('rows')
   * await rows.subscribeBatch((batch) => console.log(`insert ${batch.length} rows`), { size: 500, wait: 50 })
   */
  async subscribeBatch(
    handler: QueueBatchHandler<Received>,
    options?: SubscribeBatchOptions<Received>,
  ): Promise<QueueHandle> {
    const { size, wait, ...rest } = subscribeBatchOptions.parse(options as never, 'subscribeBatch')
    const declared = this.#declare(handler as never, undefined)
    return this.#add({ ...declared, options: { ...rest, transaction: undefined }, batch: { size, wait } })
  }

  async #add(subscriber: Subscriber): Promise<QueueHandle> {
    // Without a server, those of the process serve it if they can.
    if (servers.size === 0 || this.#server !== undefined) void this.#openQueues
    await subscribers.add(subscriber, this.#server)
    return { unsubscribe: () => subscribers.remove(subscriber) }
  }

  #declare(handler: QueueHandler<Received>, options: SubscribeOptions<Received> | undefined): Subscriber {
    if (typeof handler !== 'function')
      throw OptionError(`subscribe (the handler) of ${this.name}`, handler, 'a function: subscribe(handler, options)')
    return {
      queue: this.#self,
      handler: handler as QueueHandler<unknown>,
      options: subscribeOptions.parse(options, 'subscribe'),
    }
  }

  /**
   * Makes a method a subscriber, under either decorator protocol.
   *
   * With standard decorators the newest instance of the class receives the messages, so create one at start-up; with
   * `experimentalDecorators` one is created without arguments when the first message comes.
   *
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * class Printing {
   *   @orders.subscribeMethod({ concurrency: 5 })
   *   async print({ book }: { book: number }) {
   *     console.log(book)
   *   }
   * }
   * new Printing()
   */
  subscribeMethod(options?: SubscribeOptions<Received>): MethodMark<QueueMethod<Received>> {
    return methodDecorator<Received>(this.name, (handler) => {
      const what = `a method could not subscribe to ${this.#what}`
      const failed = (err: unknown) => this.engines.log.error({ err, queue: this.name }, what)
      this.#add(this.#declare(handler, options)).catch(failed)
    })
  }

  /** Ends the repetition that this server has begun with `repeat` and this key; returns whether there was one. Those of other processes continue. */
  async stopRepeat(key: string): Promise<boolean> {
    return this.#queues.repeats.end(this.#self, nameInTenant(key))
  }

  /** Returns the number of messages by state. The numbers of SQS are approximate. */
  async counts(): Promise<QueueCounts> {
    return this.engines.ask(this.#resolved, (driver, signal) => driver.counts(this.name, signal))
  }

  /**
   * Resolves while the engine responds, otherwise rejects with QueueUnavailableError; for health checks.
   *
   * @example
   * const orders = memoryQueue<{ book: number }>('orders')
   * new Server({ plugins: { health: { checks: { orders: () => orders.health() } } } })
   */
  async health(): Promise<void> {
    await this.engines.ask(this.#resolved, (driver, signal) => driver.ping(signal))
  }
}

/** The names that engines accept, what they take, and the engine for the message. */
const names: { readonly [kind: string]: readonly [RegExp, takes: string, engine: string] } = {
  // BullMQ uses it as a separator in Redis keys.
  bullmq: [/^[^:]*$/, 'text without ":"', 'BullMQ'],
  // Looking a name up among its queues, pg-boss would find the members that every object has.
  pgboss: [/^[\w./-]+$/, 'letters, digits, "_", "-", "." and "/", and not "constructor" or the like', 'pg-boss'],
}

function checkName(name: string, kind: string | undefined): void {
  // Postgres cannot store NUL; a lone surrogate becomes a replacement character, which would make one queue of two.
  if (typeof name !== 'string' || name === '' || /\0|\p{Surrogate}/u.test(name))
    throw OptionError('the name of a queue', quoted(name), 'text such as "orders", without NUL and unpaired surrogates')
  const [pattern, takes, engine] = names[kind ?? ''] ?? []
  if (pattern?.test(name) === false || (kind === 'pgboss' && name in Object.prototype))
    throw OptionError(`the name of a queue of ${engine}`, quoted(name), takes!)
}

const hasId = ({ meta }: MessageSettings) => meta?.id !== undefined

/** What is stored with a message; nothing for most of them. */
function metaFor(
  { meta, expireIn }: MessageSettings,
  { name, version }: SubscribedQueue,
  carrier: Carrier | undefined,
  tenant: string | undefined,
): Meta | undefined {
  const isPlain = meta === undefined && expireIn === undefined && version === 1
  if (isPlain && carrier === undefined && tenant === undefined) return undefined
  const expires = expireIn === undefined ? undefined : clock.now() + expireIn
  return defined({ ...meta, ...carrier, tenant, expires, ...(!isPlain && { queue: name, version }) })
}
