import { checkOptions, type Logger, lineLogger } from '../../kernel/index.ts'
import type { MqttApi } from './api.ts'
import { claim, closeRunner, type Declared, openRunner, type Runner } from './declarations.ts'
import { withinTime } from './deferred.ts'
import { MqttConnectedError, MqttNotConnectedError, MqttUnavailableError } from './errors.ts'
import { declarationOf, handleOf, type MqttHandle } from './handle.ts'
import type { Link } from './links/contract.ts'
import { openLink } from './links/open.ts'
import { loadSubscriptions } from './loader.ts'
import { checkPublishOptions, type MqttPublishOptions, type MqttSubscribeOptions } from './message-options.ts'
import { checkTopic } from './names.ts'
import { type MqttServiceOptions, type MqttSettings, type Sources, settingsOf, sourcesOf } from './options.ts'
import { Outbox } from './outbox.ts'
import { bytesOf } from './payload.ts'
import { Subscriptions } from './subscriptions.ts'
import { topicOf } from './topic.ts'
import type { ExactName, IsPattern, MqttArguments, MqttHandler, MqttPayload } from './types.ts'

/** How long good-byes may take that nobody needs to wait for. */
const goodbye = 1_000

/** The parts of a service that is running. */
interface Running {
  readonly link: Link
  readonly outbox: Outbox
  readonly subscriptions: Subscriptions
}

/**
 * A connection to a broker, with the subscriptions of this process.
 *
 * @example
 * import { MqttService, mqtt } from 'framework'
 *
 * mqtt.subscribe('doors/front', (door) => console.log(door), { qos: 1 })
 * await MqttService.connect({ host: 'broker.example' })
 * await mqtt.publish('doors/front', { open: true }, { qos: 1 })
 * await MqttService.disconnect()
 */
export class MqttService implements Runner {
  static #standalone: MqttService | undefined

  /**
   * Connects this process, without a server, and loads the files of `subscribe`.
   *
   * @throws (as a rejection) MqttUnavailableError when the broker cannot be reached, MqttSubscribeError when it refuses a
   * subscription, MqttConnectedError when there is a connection already, MqttFileError, PeerMissingError, OptionError.
   */
  static async connect(options: MqttServiceOptions = {}): Promise<MqttService> {
    if (MqttService.#standalone !== undefined) throw MqttConnectedError()
    const service = new MqttService(options)
    MqttService.#standalone = service
    await service.start()
    return service
  }

  /**
   * Ends the connection of {@link MqttService.connect}: running handlers and messages under way come to their end first.
   * Nothing happens without one.
   */
  static async disconnect(options: { timeout?: number } = {}): Promise<void> {
    await MqttService.#standalone?.stop(options)
  }

  readonly isConsumer: boolean
  readonly #settings: MqttSettings
  readonly #sources: Sources
  #log: Logger
  #running: Running | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #isUp = false
  #whyDown: Error | undefined

  constructor(options: MqttServiceOptions = {}, defaultFiles: readonly string[] = []) {
    const { subscribe, logger, ...connect } = options
    this.#settings = settingsOf(connect)
    this.#sources = sourcesOf(subscribe, defaultFiles)
    this.isConsumer = this.#sources.isOn
    this.#log = logger ?? lineLogger()
  }

  /** @internal */
  logTo(logger: Logger): void {
    this.#log = logger
  }

  /** Whether the broker is there at this moment. */
  get isConnected(): boolean {
    return this.#isUp
  }

  /**
   * For health checks.
   *
   * @throws MqttUnavailableError telling why the broker is not there.
   * @example
   * const service = await MqttService.connect({ host: 'broker.example', required: false })
   * new Server({ plugins: { health: { checks: { mqtt: () => service.check() } } } })
   */
  check(): true {
    if (this.#isUp) return true
    throw (
      this.#whyDown ?? MqttUnavailableError(`there is no connection to the broker ${this.#settings.address.shown} yet`)
    )
  }

  /** Connects, and loads the files; a server does it when it listens. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      await this.stop({ timeout: 0 })
      throw error
    })
    return this.#starting
  }

  async #start(): Promise<void> {
    await loadSubscriptions(this.#sources, this.#log)
    const link = await openLink(this.#settings, {
      up: (resumed) => void this.#up(resumed),
      down: (error) => this.#down(error),
      message: (message) => subscriptions.deliver(message),
    })
    const subscriptions = new Subscriptions(link, this.#log, this.#settings)
    this.#running = { link, outbox: new Outbox(link, this.#settings), subscriptions }
    openRunner(this)
    for (const declared of claim(this)) await subscriptions.add(declared)
    const { required } = this.#settings
    if (required) {
      await link.open(false)
      await this.#firstUp
      return
    }
    // It goes on until the service stops; `down` tells.
    link.open(true).catch(() => {})
  }

  /** What became of the subscriptions when the broker was there for the first time. */
  #firstUp: Promise<void> | undefined

  #up(resumed: boolean): void {
    const isFirst = this.#firstUp === undefined
    this.#isUp = true
    const settled = this.#restore(resumed, isFirst && this.#settings.required)
    this.#firstUp ??= settled
    settled.catch(() => {})
  }

  async #restore(resumed: boolean, isStrict: boolean): Promise<void> {
    const { subscriptions, outbox } = this.#running!
    if (this.#whyDown !== undefined) this.#log.warn(`the MQTT broker ${this.#settings.address.shown} is there again`)
    this.#whyDown = undefined
    const refused = await subscriptions.up(resumed)
    // The subscriptions come first, so that we do not miss what we publish ourselves.
    if (this.#isUp) outbox.up()
    const [first] = refused
    if (isStrict && first !== undefined) throw first.error
    await subscriptions.tell(refused)
  }

  #down(error: Error): void {
    this.#isUp = false
    if (this.#whyDown === undefined && this.#stopping === undefined) {
      this.#log.warn(
        { err: error },
        `the MQTT broker ${this.#settings.address.shown} is gone; the connection is made again when it is back`,
      )
    }
    this.#whyDown = error
    this.#running?.subscriptions.down()
    this.#running?.outbox.down(error)
  }

  async publish<const Name extends string>(
    topic: Name & ExactName<Name>,
    message: MqttPayload<Name> | Uint8Array,
    options: MqttPublishOptions = {},
  ): Promise<void> {
    checkPublishOptions('mqtt.publish', options)
    const payload = bytesOf(checkTopic(topic), message)
    if (this.#running === undefined) throw MqttNotConnectedError(`publishing to "${topic}"`)
    await this.#running.outbox.publish({ topic, payload, options: { ...options } })
  }

  subscribe<const Name extends string, const Options extends MqttSubscribeOptions = {}>(
    topic: Name,
    handler: MqttHandler<MqttArguments<IsPattern<Name>, MqttPayload<Name>, Options>>,
    options?: Options,
  ): MqttHandle {
    const declared = declarationOf(topic, handler, options)
    const made = this.adopt(declared)
    return handleOf(declared, made, () => this.drop(declared))
  }

  // As `unknown`: compared, the generic signatures cost the type checker thirty thousand instantiations.
  readonly topic: MqttApi['topic'] = topicOf(this as unknown as MqttApi)

  /** @internal */
  async adopt(declared: Declared): Promise<void> {
    if (this.#running === undefined) throw MqttNotConnectedError(`subscribing to "${declared.filter.text}"`)
    await this.#running.subscriptions.add(declared)
  }

  /** @internal */
  async drop(declared: Declared): Promise<void> {
    await this.#running?.subscriptions.remove(declared)
  }

  /** Takes no other messages from now on; `stop` waits for those that are there. @internal */
  halt(): void {
    if (this.#settings.connection.clean !== false) void this.#running?.subscriptions.leave()
  }

  /**
   * Leaves the broker in good order: no other messages, then the handlers that run and what they publish come to their end,
   * for `timeout` milliseconds (10000) at most.
   */
  stop({ timeout = 10_000 }: { timeout?: number } = {}): Promise<void> {
    checkOptions('mqtt.stop', { timeout }, ['timeout'])
    this.#stopping ??= this.#stop(timeout).finally(() => {
      if (MqttService.#standalone === this) MqttService.#standalone = undefined
      this.#stopping = undefined
      this.#starting = undefined
      this.#firstUp = undefined
    })
    return this.#stopping
  }

  async #stop(timeout: number): Promise<void> {
    const running = this.#running
    closeRunner(this)
    if (running === undefined) return
    const { link, outbox, subscriptions } = running
    const until = performance.now() + timeout
    const left = () => Math.max(0, until - performance.now())
    // A session that the broker keeps goes on collecting.
    if (this.#settings.connection.clean !== false) await withinTime(subscriptions.leave(), Math.min(goodbye, left()))
    const isDrained = await withinTime(subscriptions.idle(), left())
    if (!isDrained && timeout > 0)
      this.#log.warn('closing does not wait any longer for handlers of MQTT messages: some are still running')
    subscriptions.close()
    // What waits for a broker that is gone would wait for its own time to be over.
    if (this.#isUp) await withinTime(outbox.idle(), left())
    this.#running = undefined
    outbox.close()
    await link.close()
    this.#isUp = false
  }
}
