import { isFrameworkError, type Logger, systemClock, type Timer, within } from '../../kernel/index.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { addressOf, shownAddress } from '../shared/stores/address.ts'
import { isUnreachable } from '../shared/stores/unreachable.ts'
import { memoizedIn } from '../shared/values/memoize.ts'
import { queueConfig } from './config.ts'
import { redisAddress } from './drivers/bullmq-connection.ts'
import type { DriverHost, QueueDriver } from './drivers/contract.ts'
import { customDriver, type GenericPubSub } from './drivers/custom.ts'
import { MemoryDriver } from './drivers/memory.ts'
import { QueueNotConfiguredError, QueueUnavailableError } from './errors.ts'
import {
  type OwnEngineSettings,
  ownEngineDefaults,
  type QueueConfigSettings,
  type QueueErrorHandler,
} from './options.ts'

type Driver = QueueDriver<object>

/** A built-in kind of engine. */
interface Kind {
  /** Imports the modules that only this kind needs. */
  load(config: QueueConfigSettings, host: DriverHost): Promise<Driver>
  /** Its name in messages, and the remedy when it is unavailable. */
  backend(config: QueueConfigSettings): readonly [name: string, remedy: string]
}

const kinds = {
  memory: { load: async () => memory as Driver, backend: () => ['memory', ''] },
  bullmq: {
    load: async (config, host) => (await import('./drivers/bullmq.ts')).BullmqDriver.load(config.bullmq!, host),
    backend: ({ bullmq }) => [
      `Redis at ${redisAddress(bullmq?.connection ?? {})}`,
      'Start it, or correct bullmq.connection of the configuration',
    ],
  },
  pgboss: {
    load: async (config, host) => (await import('./drivers/pgboss.ts')).PgbossDriver.load(config.pgboss!, host),
    backend: ({ pgboss }) => [
      `Postgres at ${shownAddress(addressOf('postgres', pgboss?.connectionString))}`,
      'Start it, or correct pgboss.connectionString of the configuration',
    ],
  },
  sqs: {
    load: async (config, host) => (await import('./drivers/sqs.ts')).SqsDriver.load(config.sqs!, host),
    backend: ({ sqs }) => [
      `SQS${sqs?.endpoint === undefined ? '' : ` at ${shownAddress(sqs.endpoint)}`}`,
      'Check the network, the credentials and sqs.endpoint of the configuration',
    ],
  },
} satisfies Record<string, Kind>

export type QueueKind = keyof typeof kinds
const isKind = (kind: string): kind is QueueKind => Object.hasOwn(kinds, kind)

/** Messages in memory outlive a configuration, like those of an engine. */
export const memory = new MemoryDriver(() => queueConfig().memory.maxSize)

/** The engine of a queue. */
export interface EngineRef {
  /** A kind, or the name of a custom engine. */
  readonly kind: string
  readonly pubsub: GenericPubSub | undefined
}

const loggers: Logger[] = []
let fallback: Logger | undefined

/** The logger for the queues of this process: the one of the newest open server, otherwise standard error. */
export function queueLog(): Logger {
  fallback ??= lineLogger()
  return loggers.at(-1) ?? fallback
}

/** Makes a server's logger the one for the queues until the returned function is called. */
export function logTo(logger: Logger): () => void {
  loggers.push(logger)
  return () => void loggers.splice(loggers.lastIndexOf(logger), 1)
}

const open = new Map<unknown, Promise<Driver>>()

/** The driver of an engine: one in a process, loaded when it is first used. */
export function driverOf({ kind, pubsub }: EngineRef, queue: string): Promise<Driver> {
  return memoizedIn(open, pubsub ?? kind, () => load(kind, pubsub, queue))
}

async function load(kind: string, pubsub: GenericPubSub | undefined, queue: string): Promise<Driver> {
  const host = hostOf(kind)
  if (pubsub !== undefined) return customDriver(pubsub, host)
  if (settingsOf(kind) === undefined) throw QueueNotConfiguredError(queue, kind)
  return (kinds[kind as QueueKind] as Kind).load(queueConfig(), host)
}

/** Milliseconds without a failure before an engine counts as available again: its connections come back one by one. */
const settled = 1000

/** The unavailable engines, with their last errors. */
const away = new Map<string, unknown>()

/** Reports once that an engine is unavailable, and once that it is back. */
function hostOf(kind: string): DriverHost {
  away.delete(kind)
  let returning: Timer | undefined
  const back = () => {
    returning = undefined
    away.delete(kind)
    queueLog().warn({ queues: kind }, `the queues of "${kind}" continue: their engine works again`)
  }
  return {
    up() {
      if (!away.has(kind) || returning !== undefined) return
      returning = systemClock.setTimeout(back, settled)
      returning.unref()
    },
    down(error) {
      systemClock.clear(returning)
      returning = undefined
      if (!away.has(kind))
        queueLog().warn({ queues: kind, err: error }, `the queues of "${kind}" are stopped: their engine does not work`)
      away.set(kind, error)
    },
    warn: (message, error) => queueLog().warn({ queues: kind, err: error }, message),
  }
}

/** Whether there is an engine to reach: this process does not use one without configuration. */
export function isConfigured({ kind, pubsub }: EngineRef): boolean {
  return pubsub !== undefined || settingsOf(kind) !== undefined
}

/** Ignores inherited members: a custom engine may have the name of one. */
function settingsOf(kind: string): OwnEngineSettings | undefined {
  const config = queueConfig()
  return Object.hasOwn(config, kind) ? config[kind] : undefined
}

export function errorHandlerOf({ kind }: EngineRef): QueueErrorHandler | undefined {
  return settingsOf(kind)?.errorHandler
}

const never = new AbortController().signal

/**
 * Asks an engine, within its `publishTimeout`: BullMQ by itself would wait for ever.
 *
 * @throws QueueUnavailableError (as a rejection) when it cannot be reached; its refusals reject unchanged.
 */
export async function ask<Result>(
  engine: EngineRef,
  queue: string,
  question: (driver: Driver, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const driver = await driverOf(engine, queue)
  // A timer and an abort controller took a third of the time of a message in memory.
  if (driver.isLocal === true) return question(driver, never)
  const { publishTimeout } = settingsOf(engine.kind) ?? ownEngineDefaults
  const tooLate = new AbortController()
  const late = () => {
    tooLate.abort()
    // The reason why it does not connect: a wrong password, for example.
    const cause = away.get(engine.kind)
    const why = isFrameworkError(cause) ? `: ${cause.message}` : ''
    const error = unavailable(engine, queue, `did not respond within ${publishTimeout} ms${why}`)
    throw cause === undefined ? error : Object.assign(error, { cause })
  }
  try {
    return await within(question(driver, tooLate.signal), publishTimeout, late, systemClock)
  } catch (error) {
    if (isFrameworkError(error) || !isUnreachable(error)) throw error
    throw Object.assign(unavailable(engine, queue, 'does not respond'), { cause: error })
  }
}

function unavailable({ kind }: EngineRef, queue: string, why: string): Error {
  const [name, remedy] = isKind(kind)
    ? (kinds[kind] as Kind).backend(queueConfig())
    : [`its engine "${kind}"`, 'Check that engine']
  return QueueUnavailableError(queue, name, why, remedy)
}

/** Closes every engine; one that is used later is opened again. */
export async function closeEngines(): Promise<void> {
  const all = [...open.values()]
  open.clear()
  await Promise.all(all.map((driver) => driver.then((one) => one.close()).catch(ignore)))
}

function ignore(error: unknown): void {
  queueLog().debug({ err: error }, 'an engine of queues did not close cleanly')
}
