import { isFrameworkError, type Logger, systemClock, type Timer, within } from '../../kernel/index.ts'
import type { LockService } from '../locks/index.ts'
import type { DriverHost, QueueDriver } from '../shared/engines/contract.ts'
import type { EngineRef, GenericPubSub, QueueRef, Unresolved } from '../shared/engines/custom.ts'
import { customDriver } from '../shared/engines/custom.ts'
import { QueueNotConfiguredError, QueueUnavailableError } from '../shared/engines/errors.ts'
import { MemoryDriver } from '../shared/engines/memory.ts'
import type { OwnEngineSettings, QueueConfigSettings, QueueErrorHandler } from '../shared/engines/options.ts'
import { ownEngineDefaults } from '../shared/engines/options.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { addressOf, placeOf, shownAddress } from '../shared/stores/address.ts'
import { shownRedis } from '../shared/stores/redis.ts'
import { isUnreachable } from '../shared/stores/unreachable.ts'
import { madeIn, memoizedIn } from '../shared/values/memoize.ts'
import { type RunningTransaction, transactionAt } from '../shared/work/transactions.ts'
import { processConfig } from './config.ts'

type Driver = QueueDriver<object>
type Question<Result> = (driver: Driver, signal: AbortSignal) => Result

/** A built-in kind of engine outside of the process. */
interface Kind {
  /** Imports the modules that only this kind needs. */
  load(config: QueueConfigSettings, host: DriverHost): Promise<Driver>
  /** Its name in messages, and the remedy when it is unavailable. */
  backend(config: QueueConfigSettings): readonly [name: string, remedy: string]
}

const kinds = {
  bullmq: {
    load: async (config, host) => (await import('../shared/engines/bullmq.ts')).BullmqDriver.load(config.bullmq!, host),
    backend: ({ bullmq }) => [
      `Redis at ${shownRedis(bullmq?.connection ?? {})}`,
      'Start it, or correct REDIS_URL or bullmq.connection of the configuration',
    ],
  },
  pgboss: {
    load: async (config, host) => (await import('../shared/engines/pgboss.ts')).PgbossDriver.load(config.pgboss!, host),
    backend: ({ pgboss }) => [
      `Postgres at ${shownAddress(addressOf('postgres', pgboss?.connectionString))}`,
      'Start it, or correct DATABASE_URL or pgboss.connectionString of the configuration',
    ],
  },
  sqs: {
    load: async (config, host) => (await import('../shared/engines/sqs.ts')).SqsDriver.load(config.sqs!, host),
    backend: ({ sqs }) => [
      `SQS${sqs?.endpoint === undefined ? '' : ` at ${shownAddress(sqs.endpoint)}`}`,
      'Check the network, the credentials and sqs.endpoint of the configuration',
    ],
  },
} satisfies Record<string, Kind>

/** Milliseconds without a failure before an engine counts as available again: its connections come back one by one. */
const settled = 1000

const never = new AbortController().signal

/** The engines of one server, or of a script. Each is loaded when it is first used, and opened again if it is used after they were closed. */
export class Engines {
  readonly memory = new MemoryDriver(() => this.config.memory.maxSize)
  /** The server; `undefined` for a script. */
  server: object | undefined
  /** Whether all queues are in memory, whatever their engine: in a test. */
  isInMemory = false
  /** The locks of the server, if it has any. */
  locks: () => LockService | undefined = () => undefined
  /** The configuration of the server; without one, that of the process applies. */
  ownConfig: QueueConfigSettings | undefined
  /** The logger of the server; in a script, standard error. */
  log: Logger = lineLogger()
  readonly #open = new Map<unknown, Promise<Driver>>()
  /** The unavailable engines, with their last errors. */
  readonly #away = new Map<string, unknown>()
  /** The databases of configurations of pg-boss. */
  readonly #places = new Map<object, string | undefined>()

  get config(): QueueConfigSettings {
    return this.ownConfig ?? processConfig()
  }

  /** A queue with its engine. */
  resolve<Queue extends QueueRef>(queue: Unresolved<Queue>): Queue {
    const made = queue.kind === undefined ? this.#configured(queue) : (queue as Queue)
    const { kind, pubsub } = made
    if (!this.isInMemory || (kind === 'memory' && pubsub === undefined)) return made
    return { ...made, kind: 'memory', pubsub: undefined, standsFor: { kind, pubsub } }
  }

  #configured<Queue extends QueueRef>(queue: Unresolved<Queue>): Queue {
    const { default: usual, ...named } = this.config.queues
    const kind = (Object.hasOwn(named, queue.name) ? named[queue.name] : undefined) ?? usual
    return { ...queue, kind, pubsub: this.#settingsOf(kind)?.pubsub } as unknown as Queue
  }

  driverOf(queue: QueueRef): Promise<Driver> {
    return memoizedIn(this.#open, queue.pubsub ?? queue.kind, () => this.#load(queue))
  }

  async #load({ name, kind, pubsub }: QueueRef): Promise<Driver> {
    const host = this.#hostOf(kind)
    if (pubsub !== undefined) return customDriver(pubsub, host)
    if (kind === 'memory') return this.memory as Driver
    if (this.#settingsOf(kind) === undefined) throw QueueNotConfiguredError(name, kind)
    return (kinds[kind as keyof typeof kinds] as Kind).load(this.config, host)
  }

  /** The name of an engine outside of the process, and what to do while it is unavailable. */
  backendOf(kind: string): readonly [name: string, remedy: string] | undefined {
    return Object.hasOwn(kinds, kind) ? (kinds[kind as keyof typeof kinds] as Kind).backend(this.config) : undefined
  }

  /** Reports once that an engine is unavailable, and once that it is back. */
  #hostOf(kind: string): DriverHost {
    const away = this.#away
    away.delete(kind)
    let returning: Timer | undefined
    const back = () => {
      returning = undefined
      away.delete(kind)
      this.log.warn({ queues: kind }, `the queues of "${kind}" continue: their engine works again`)
    }
    return {
      up() {
        if (!away.has(kind) || returning !== undefined) return
        returning = systemClock.setTimeout(back, settled)
        returning.unref()
      },
      down: (error) => {
        systemClock.clear(returning)
        returning = undefined
        if (!away.has(kind))
          this.log.warn({ queues: kind, err: error }, `the queues of "${kind}" are stopped: their engine does not work`)
        away.set(kind, error)
      },
      warn: (message, error) => this.log.warn({ queues: kind, err: error }, message),
    }
  }

  /** Whether there is an engine to reach: none is used without configuration. */
  isConfigured({ kind, pubsub }: EngineRef): boolean {
    return pubsub !== undefined || this.#settingsOf(kind) !== undefined
  }

  /** Ignores inherited members: a custom engine may have the name of one. */
  #settingsOf(kind: string): (OwnEngineSettings & { readonly pubsub?: GenericPubSub }) | undefined {
    const config: Readonly<Record<string, unknown>> = this.config
    return Object.hasOwn(config, kind) ? (config[kind] as OwnEngineSettings) : undefined
  }

  /** The running transaction, if it is one of the database in which this engine keeps its messages. */
  transactionOf({ kind, pubsub }: EngineRef): RunningTransaction | undefined {
    const { pgboss } = this.config
    if (kind !== 'pgboss' || pubsub !== undefined || pgboss === undefined) return undefined
    const place = () => placeOf(addressOf('postgres', pgboss.connectionString), pgboss.options)
    return transactionAt(madeIn(this.#places, pgboss, place))
  }

  errorHandlerOf(engine: EngineRef): QueueErrorHandler | undefined {
    return this.#settingsOf((engine.standsFor ?? engine).kind)?.errorHandler
  }

  /**
   * Asks the engine of a queue, within its `publishTimeout`: BullMQ by itself would wait for ever.
   *
   * @throws QueueUnavailableError (as a rejection) when it cannot be reached; its refusals reject unchanged.
   */
  ask<Result>(queue: QueueRef, question: Question<Result>): Result | Promise<Awaited<Result>> {
    // It waits for nothing: a timer, an abort controller and promises would take half of the time of a message.
    if (queue.kind === 'memory' && queue.pubsub === undefined) return question(this.memory as Driver, never)
    return this.#askInTime(queue, question)
  }

  async #askInTime<Result>(queue: QueueRef, question: Question<Result>): Promise<Awaited<Result>> {
    const driver = await this.driverOf(queue)
    const { publishTimeout } = this.#settingsOf(queue.kind) ?? ownEngineDefaults
    const tooLate = new AbortController()
    const late = () => {
      tooLate.abort()
      // The reason why it does not connect: a wrong password, for example.
      const cause = this.#away.get(queue.kind)
      const why = isFrameworkError(cause) ? `: ${cause.message}` : ''
      const error = this.unavailable(queue, `did not respond within ${publishTimeout} ms${why}`)
      throw cause === undefined ? error : Object.assign(error, { cause })
    }
    try {
      return await within(Promise.resolve(question(driver, tooLate.signal)), publishTimeout, late, systemClock)
    } catch (error) {
      if (isFrameworkError(error) || !isUnreachable(error)) throw error
      throw Object.assign(this.unavailable(queue, 'does not respond'), { cause: error })
    }
  }

  unavailable({ kind, name: queue }: QueueRef, why: string): Error {
    const [name, remedy] = this.backendOf(kind) ?? [`its engine "${kind}"`, 'Check that engine']
    return QueueUnavailableError(queue, name, why, remedy)
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()]
    this.#open.clear()
    const ignore = (error: unknown) => this.log.debug({ err: error }, 'an engine of queues did not close cleanly')
    await Promise.all(all.map((driver) => driver.then((one) => one.close()).catch(ignore)))
  }
}
