import { type Logger, systemClock } from '../../kernel/index.ts'
import { peer } from '../shared/environment/optional-package.ts'
import { answerWithin } from '../shared/stores/availability.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { sharing } from '../shared/values/memoize.ts'
import { withinTime } from '../shared/values/promises.ts'
import { MqttUnavailableError, withReason } from './errors.ts'
import type { Link, LinkEvents } from './links/contract.ts'
import type { MqttPackage } from './links/network.ts'
import { Outbox } from './messages/outbox.ts'
import type { MqttSettings, RunParts } from './options.ts'
import { Subscriptions } from './subscriptions/subscriptions.ts'

/** How long disconnecting may take when no caller waits for it. */
const goodbye = 1_000

/** One run of a service, from its start to its stop: its outbox, its handlers, and whether the broker is connected. */
export class Run {
  readonly #parts: RunParts
  readonly outbox: Outbox
  readonly subscriptions: Subscriptions
  /** Shared, because a broker that does not respond leaves each of them waiting. */
  readonly #ping = sharing(() => this.#parts.link.ping())
  #isClosing = false
  #whyDown: Error | undefined
  /** The result of the subscriptions when the broker was connected for the first time. */
  #firstUp: Promise<void> | undefined

  /** Does not connect yet. */
  static async make(settings: MqttSettings, log: Logger, server: object | undefined): Promise<Run> {
    const events: LinkEvents = {
      up: (resumed) => run.#up(resumed),
      down: (error) => run.#down(error),
      message: (message) => run.subscriptions.deliver(message),
    }
    const link = await openLink(settings, events, server)
    const run = new Run({ settings, log, link, server })
    if (server !== undefined) announceBackend(server, 'mqtt', link, { failure: (why) => MqttUnavailableError(why) })
    return run
  }

  private constructor(parts: RunParts) {
    this.#parts = parts
    this.outbox = new Outbox(parts)
    this.subscriptions = new Subscriptions(parts)
  }

  /** Resolves when the broker is connected and has accepted the subscriptions; immediately if it is not required. */
  async connect(): Promise<void> {
    if (this.#parts.settings.required) {
      await this.#parts.link.open(false)
      await this.#firstUp
      return
    }
    // Keeps trying until the service stops; `#down` reports failures.
    this.#parts.link.open(true).catch(() => {})
  }

  get isUp(): boolean {
    return this.subscriptions.isUp
  }

  /** Rejects unless the broker responds within `ms` milliseconds. A frozen one keeps its connections. */
  async check(ms: number): Promise<void> {
    const { shown } = this.#parts.settings.address
    if (!this.isUp) throw this.#whyDown ?? MqttUnavailableError(`there is no connection to the broker ${shown} yet`)
    try {
      await answerWithin(this.#ping(), ms)
    } catch (error) {
      throw withReason(MqttUnavailableError(`the broker ${shown} does not respond: ${(error as Error).message}`), error)
    }
  }

  #up(resumed: boolean): void {
    const isFirst = this.#firstUp === undefined
    const settled = this.#restore(resumed, isFirst && this.#parts.settings.required)
    this.#firstUp ??= settled
    settled.catch(() => {})
  }

  async #restore(resumed: boolean, isStrict: boolean): Promise<void> {
    if (this.#whyDown !== undefined)
      this.#parts.log.warn(`the MQTT broker ${this.#parts.settings.address.shown} is connected again`)
    this.#whyDown = undefined
    const refused = await this.subscriptions.up(resumed)
    // The subscriptions come first, so that this process does not miss its own messages.
    if (this.isUp) this.outbox.up()
    const [first] = refused
    if (isStrict && first !== undefined) throw first.error
    await this.subscriptions.reportRefused(refused)
  }

  #down(error: Error): void {
    if (this.#whyDown === undefined && !this.#isClosing) {
      const { shown } = this.#parts.settings.address
      this.#parts.log.warn(
        { err: error },
        `the connection to the MQTT broker ${shown} was lost; the service reconnects when the broker is back`,
      )
    }
    this.#whyDown = error
    this.subscriptions.down()
    this.outbox.down(error)
  }

  /** Takes no further messages. A session that the broker keeps still collects them: what it sends is not acknowledged. */
  async #leave(limit = goodbye): Promise<void> {
    if (!this.#parts.settings.clean) this.subscriptions.refuse()
    else await withinTime(this.subscriptions.leave(), limit, systemClock)
  }

  /** Takes no further messages, and waits for the running handlers and for what they publish. */
  async idle(): Promise<void> {
    await this.#leave()
    await this.subscriptions.idle()
    if (this.isUp) await this.outbox.idle()
  }

  /** Waits for running handlers and unsent messages, for this many milliseconds at most. */
  async drain(timeout: number): Promise<void> {
    this.#isClosing = true
    const until = systemClock.monotonic() + timeout
    const left = () => Math.max(0, until - systemClock.monotonic())
    await this.#leave(Math.min(goodbye, left()))
    const isDone = await withinTime(this.subscriptions.idle(), left(), systemClock)
    if (!isDone && timeout > 0) {
      const running = this.subscriptions.running
      this.#parts.log.warn(
        { running },
        `closing no longer waits for the handlers of the MQTT topics ${running.join(', ')}: they are still running`,
      )
    }
    this.subscriptions.close()
    // Messages for a lost broker would wait until their own timeout.
    if (this.isUp) await withinTime(this.outbox.idle(), left(), systemClock)
  }

  async close(): Promise<void> {
    this.outbox.close()
    await this.#parts.link.close()
    this.subscriptions.down()
  }
}

/** Makes the link for the settings; loads the network client only if it is needed. */
export async function openLink(settings: MqttSettings, events: LinkEvents, server?: object): Promise<Link> {
  if (settings.provider === 'memory') return (await import('./links/memory.ts')).memoryLink(settings, events, server)
  const mqtt: unknown = await peer('mqtt', () => import('mqtt'), 'the mqtt plugin')
  return new (await import('./links/network.ts')).NetworkLink(mqtt as MqttPackage, settings, events)
}
