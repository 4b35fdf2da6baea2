import { isInTime, type Logger, systemClock, Trace, type TraceOutcome } from '../../kernel/index.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { type Deferred, deferred } from '../shared/values/promises.ts'
import { type Carrier, carrierOf } from '../shared/work/carrier.ts'
import { stopOptions } from '../shared/work/running.ts'
import { outboxFor, whenCommitted } from '../shared/work/transactions.ts'
import type { MqttApi } from './api.ts'
import { MqttConnectedError, MqttNotConnectedError, MqttUnavailableError } from './errors.ts'
import type { Outgoing } from './links/contract.ts'
import { readPublishOptions } from './messages/message-options.ts'
import { bytesOf } from './messages/payload.ts'
import { type MqttServiceOptions, type MqttServiceSettings, mqttServiceOptions } from './options.ts'
import { Run } from './run.ts'
import { mqttClasses, OwnClasses } from './subscriptions/base-mqtt.ts'
import * as connections from './subscriptions/connections.ts'
import { type Declared, declarationOf, handleOf } from './subscriptions/declarations.ts'
import { checkTopic } from './topics/filter.ts'
import { topicOf } from './topics/topic.ts'

/** A message that is passed to the broker. */
export interface MqttPublishTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The topic that it is published to. */
  readonly topic: string
  /** The length of the payload. */
  readonly bytes: number
  /** The bytes as the broker gets them. */
  readonly payload: Uint8Array
  /** Empty at first; what a subscriber of `start` puts here is sent along over MQTT 5 and arrives in `MqttMessageTrace.carrier`. */
  readonly carrier: Carrier
}

const publishTrace = new Trace<MqttPublishTrace>('mqtt.publish')

/**
 * The connection of a server, or of a script, to a broker, with the subscriptions of this process.
 *
 * @example
 * import { MqttService, mqtt } from 'framework'
 *
 * mqtt.subscribe('doors/front', (door) => console.log(door), { qos: 1 })
 * await MqttService.connect({ host: 'broker.example' })
 * await mqtt.publish('doors/front', { open: true }, { qos: 1 })
 * await MqttService.disconnect()
 */
export class MqttService {
  static #standalone: MqttService | undefined

  /**
   * Connects this process, without a server, and loads the files of `subscribe`.
   *
   * @throws (as a rejection) MqttUnavailableError when the broker cannot be reached, MqttSubscribeError when it refuses a
   * subscription, MqttConnectedError when this process is already connected, MqttFileError, PeerMissingError, OptionError.
   */
  static async connect(options: MqttServiceOptions = {}): Promise<MqttService> {
    if (MqttService.#standalone !== undefined) throw MqttConnectedError()
    const service = new MqttService(options)
    MqttService.#standalone = service
    await service.start()
    return service
  }

  /**
   * Ends the connection of {@link MqttService.connect}, after running handlers and unsent messages have finished.
   * Does nothing without such a connection.
   */
  static async disconnect(options: { timeout?: number } = {}): Promise<void> {
    await MqttService.#standalone?.stop(options)
  }

  /** The server that has mounted it; a script has none. @internal */
  server: object | undefined
  readonly #settings: MqttServiceSettings
  readonly #classes: OwnClasses
  #log: Logger
  #run: Run | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  /** Whether this service takes subscriptions that only one of several workers may have. */
  #leads = true
  /** The subscriptions of its option and its classes. */
  readonly #own: Set<Declared>
  /** Its own subscriptions that wait until it leads. */
  readonly #held = new Set<Declared>()
  /** Settles when a later start has begun. */
  #awaited: Deferred<void> | undefined
  /** How often it was stopped: a start that a stop overtakes gives up. */
  #stops = 0

  /** `settings`: options that a plugin has already read. */
  constructor(
    options: MqttServiceOptions = {},
    settings: MqttServiceSettings = mqttServiceOptions.parse(options, 'mqtt.connect'),
  ) {
    this.#settings = settings
    this.#own = new Set(settings.subscribe.listed)
    this.#log = settings.logger ?? lineLogger()
    this.#classes = new OwnClasses(this, this.#own)
  }

  /** Makes this the connection of a server, until the returned function is called. @internal */
  mount(server: object, log: Logger): () => void {
    this.server = server
    this.#log = log
    return connections.servers.mount(server, this, connections.declarations, mqttClasses)
  }

  /** Every subscription of this server: those of its own, and what is declared. @internal */
  subscriptions(): readonly Declared[] {
    return connections.subscriptionsOf({ isOn: this.handles, listed: this.#own }, this.server)
  }

  /** Whether it handles what is declared; otherwise it only publishes. @internal */
  get handles(): boolean {
    return this.#settings.subscribe.isOn
  }

  /** @internal */
  takes(declared: Declared): boolean {
    return this.#mayHave(declared) && (this.server !== undefined || connections.isFirst(this))
  }

  /** Reports the failure of a subscription for which no caller waits. @internal */
  report(error: unknown): void {
    this.#log.error({ err: error }, 'an MQTT subscription failed')
  }

  /** Leaves subscriptions that only one worker may have to another worker, until `lead`. @internal */
  follow(): void {
    this.#leads = false
  }

  /** Takes the subscriptions that only one of several workers may have. @internal */
  async lead(): Promise<void> {
    this.#leads = true
    if (this.#run === undefined) return
    await Promise.all([...this.#held].map((declared) => this.adopt(declared).then(() => this.#held.delete(declared))))
    if (this.handles) await connections.declarations.takeFree(this)
  }

  /** Announces a start after the previous process has ended: messages wait for it. @internal */
  startsLater(): void {
    this.#awaited = deferred()
    connections.announce(this)
  }

  /** Whether this worker may subscribe: the broker sends each message of a group to one member, any other message to all subscribers. */
  #mayHave({ filter }: Declared): boolean {
    return this.#leads || filter.text.startsWith('$share/')
  }

  /** Whether the broker is connected at this moment. */
  get isConnected(): boolean {
    return this.#run?.isUp ?? false
  }

  /**
   * Resolves with true if the broker responds to a ping; the plugin `health` asks it.
   *
   * @throws (as a rejection) MqttUnavailableError with the reason, within `publishTimeout`.
   * @example
   * server.get('/broker', () => server.services.get('mqtt').check())
   */
  async check(): Promise<true> {
    const { address, publishTimeout } = this.#settings
    if (this.#run === undefined) throw MqttUnavailableError(`there is no connection to the broker ${address.shown}`)
    await this.#run.check(publishTimeout)
    return true
  }

  /** Whether it has begun to connect. @internal */
  get hasStarted(): boolean {
    return this.#run !== undefined
  }

  /** Whether the application does not start without the broker. @internal */
  get isRequired(): boolean {
    return this.#settings.required
  }

  /** Connects, and loads the files; a server calls this when it listens. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      await this.stop({ timeout: 0 })
      throw error
    })
    return this.#starting
  }

  async #start(): Promise<void> {
    const stops = this.#stops
    const log = this.#log
    if (this.handles) {
      this.#classes.open(log)
      // Other subscriptions declare themselves while their file is imported.
      await mqttClasses.load(this.#settings.subscribe, this.#classes, log)
    }
    const run = await Run.make(this.#settings, log, this.server)
    if (this.#stops !== stops) throw MqttUnavailableError('the service was stopped while it was starting')
    this.#run = run
    this.#awaited?.resolve()
    await Promise.all([...this.#own].map((declared) => this.#adoptOwn(declared)))
    await connections.open(this)
    await run.connect()
    await connections.takeOver(this)
  }

  /**
   * Publishes a message: strings and bytes as they are, everything else as JSON. Resolves when the broker has it; in a transaction of the plugin
   * `database`, it leaves after the commit.
   *
   * @throws (as a rejection) MqttNotConnectedError, MqttUnavailableError, MqttFullError, MqttPublishError, MqttPayloadError,
   * MqttTopicError, OptionError.
   */
  readonly publish: MqttApi['publish'] = async (topic, message, given) => {
    const options = readPublishOptions(given)
    const payload = bytesOf(checkTopic(topic), message)
    if (this.#awaited !== undefined) await isInTime(this.#awaited.promise, this.#settings.publishTimeout, systemClock)
    const store = outboxFor(this.server)
    if (store === undefined) this.#runOf(topic)
    const send = (data: Outgoing) => (store ? store({ sender: 'mqtt', key: topic, data }) : this.deliver(data))
    const trace = () =>
      publishTrace.run(
        () => ({ server: this.server, topic, bytes: payload.byteLength, payload, carrier: {} }),
        (event) => send({ topic, payload, options, carrier: carrierOf(event?.carrier) }),
      )
    await (store ? trace() : whenCommitted(`the message to "${topic}"`, trace, undefined))
  }

  /** Passes a message from the outbox to the broker. @internal */
  deliver(message: Outgoing): Promise<void> {
    return this.#runOf(message.topic).outbox.publish(message)
  }

  #runOf(topic: string): Run {
    if (this.#run !== undefined) return this.#run
    if (this.server !== undefined) connections.servers.open(this.server, `publishing to "${topic}"`)
    throw MqttNotConnectedError(`publishing to "${topic}"`)
  }

  /**
   * Subscribes a handler on this connection, called with the message, or with topic and message if the topic has a wildcard.
   *
   * @throws MqttTopicError, OptionError; as a rejection MqttSubscribeError when the broker refuses.
   */
  readonly subscribe: MqttApi['subscribe'] = (topic, handler, options) => {
    const declared = declarationOf(topic, handler, options)
    return handleOf(declared, this.#adoptOwn(declared), () => this.drop(declared))
  }

  /** Returns a topic of this connection by its name, with the type of its messages. */
  // Cast to `unknown`: comparing the generic signatures costs the type checker thirty thousand instantiations.
  readonly topic: MqttApi['topic'] = topicOf(this as unknown as MqttApi)

  /** Resolves once the broker has accepted it or is unavailable. @internal */
  async adopt(declared: Declared): Promise<void> {
    if (this.#run === undefined) throw MqttNotConnectedError(`subscribing to "${declared.filter.text}"`)
    await this.#run.subscriptions.add(declared)
  }

  async #adoptOwn(declared: Declared): Promise<void> {
    const waits = this.#run === undefined ? this.#awaited !== undefined : !this.#mayHave(declared)
    if (waits) this.#held.add(declared)
    else await this.adopt(declared)
  }

  /** @internal */
  async drop(declared: Declared): Promise<void> {
    this.#held.delete(declared)
    await this.#run?.subscriptions.remove(declared)
  }

  /** Takes no further messages from now on, and waits for the running handlers for as long as they take. @internal */
  async drain(): Promise<void> {
    connections.leave(this)
    await this.#run?.idle()
  }

  /**
   * Disconnects cleanly: takes no further messages, then lets the running handlers and their publications finish,
   * for `timeout` milliseconds (10000) at most.
   */
  async stop(options?: { timeout?: number }): Promise<void> {
    const { timeout } = stopOptions.parse(options, 'mqtt.stop')
    this.#stopping ??= this.#stop(timeout).finally(() => {
      if (MqttService.#standalone === this) MqttService.#standalone = undefined
      this.#stopping = undefined
      this.#starting = undefined
    })
    return this.#stopping
  }

  async #stop(timeout: number): Promise<void> {
    this.#stops++
    const run = this.#run
    this.#classes.close()
    connections.leave(this)
    await run?.drain(timeout)
    connections.close(this)
    this.#run = undefined
    await run?.close()
  }
}
