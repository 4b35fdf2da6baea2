import type { Redis } from 'ioredis'
import { defineErrors, isInTime, systemClock } from '../../../kernel/index.ts'
import { peer } from '../environment/optional-package.ts'
import { inOneWrite } from '../values/one-write.ts'
import { answerWithin } from './availability.ts'
import { type RedisAddress, redisPlace } from './redis.ts'
import type { RedisStoreSettings } from './redis-store.ts'

/** What a connection is for, and its timeouts. */
export interface RedisUse {
  /** The feature, for the error about a missing package: `the session plugin (store redis)`. */
  readonly feature: string
  /** Milliseconds to wait for the response to one command. */
  readonly commandTimeout: number
  /** Called at each failed attempt to connect, and at each success. Failing commands report their reasons themselves. */
  onState?(error: unknown | undefined): void
}

const { RedisDatabaseError } = defineErrors({
  RedisDatabaseError: (database: unknown, why: string) =>
    `Redis refuses the database ${database}: ${why}. The number comes from the address (redis://127.0.0.1:6379/3) or the option db, and must be below the setting "databases" of that Redis, 16 by default`,
})

let isSending = false

/** Whether the command that is just being sent is one of the framework: what the drivers report about it does not name the client. */
export const isOwnCommand = (): boolean => isSending

/**
 * Reports each failed attempt to connect, and each success; all other errors of a client are ignored. Its commands are the framework's own.
 *
 * A client whose database was refused would continue in database 0, among the keys of another application: so it is disconnected before
 * it is ready, and tries again.
 */
export function watchConnection(client: Redis, onState: (error: unknown | undefined) => void): void {
  // Text from the query of an address, which the socket would refuse outside of any promise.
  const ms = Math.max(0, Number(client.options.connectTimeout)) || forCallers.connectTimeout
  client.options.connectTimeout = Math.min(ms, 2_147_483_647)
  const send = client.sendCommand.bind(client)
  client.sendCommand = (...sent) => {
    isSending = true
    try {
      return send(...sent)
    } finally {
      isSending = false
    }
  }
  let isRefused = false
  client.on('connect', () => {
    isRefused = false
  })
  client.on('ready', () => onState(undefined))
  // Without a listener, ioredis writes each failed attempt to the console.
  client.on('error', (error: Error) => {
    const { command, message } = error as { command?: { name: string; args: unknown[] }; message: string }
    // The error for a refused login contains the whole command, with the password.
    delete (error as { command?: unknown }).command
    // The following errors are caused by the disconnection.
    if (isRefused) return
    isRefused = command?.name === 'select'
    if (!isRefused) return onState(error)
    client.disconnect(true)
    onState(Object.assign(RedisDatabaseError(command!.args[0], message), { cause: error }))
  })
}

/**
 * Makes the timeouts of a client count from responses that have arrived: those of `ioredis` fire before they are read. And the commands of
 * all requests of a turn leave in one write.
 */
function improve(client: Redis): void {
  const send = client.sendCommand.bind(client)
  client.sendCommand = (command, stream) => {
    command.setTimeout = (ms) => {
      answerWithin(command.promise, ms).catch(() => command.reject(new Error('Command timed out')))
    }
    // There is none before it connects.
    if ((client.stream as Redis['stream'] | undefined) !== undefined) inOneWrite(client.stream)
    return send(command, stream)
  }
}

/** Options of a client for commands whose callers wait: one that cannot be sent immediately fails, and is never sent later. */
export const forCallers = {
  connectTimeout: 2_000,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times: number) => Math.min(50 * 2 ** times, 1_000),
}

/**
 * Connects a client of `ioredis` for commands whose callers wait: a command that cannot be sent immediately fails, and is never
 * sent later, when it may be outdated.
 *
 * It also resolves if Redis cannot be reached, or accepts connections without responding; it then retries until it succeeds.
 *
 * @throws (as a rejection) PeerMissingError without the package, OptionError for an invalid address in the environment,
 * RedisDatabaseError.
 */
export async function connectRedis(
  address: RedisAddress,
  { feature, commandTimeout, onState }: RedisUse,
): Promise<Redis> {
  const { Redis } = await peer('ioredis', () => import('ioredis'), feature)
  const { place, options: given } = redisPlace(address)
  const client = new Redis(...(place as [url: string]), { ...forCallers, commandTimeout, ...given, lazyConnect: true })
  // Text from the query of an address, where ioredis would wait without end.
  client.options.commandTimeout = Number(client.options.commandTimeout) || commandTimeout
  improve(client)
  let failure: unknown
  watchConnection(client, (error) => {
    failure = error
    onState?.(error)
  })
  await isInTime(client.connect(), forCallers.connectTimeout, systemClock).catch(() => {})
  if ((failure as { code?: unknown } | undefined)?.code === 'RedisDatabaseError') {
    client.disconnect()
    throw failure
  }
  return client
}

/** The client of a store. */
export interface OpenRedis {
  readonly client: Redis
  /** Milliseconds to wait for a command, for a client without such a limit of its own. */
  readonly timeout: number | undefined
  /** Ends the connection, unless the client is the application's. */
  close(): void
}

/** Opens the client of a store. It also resolves if Redis cannot be reached, as {@link connectRedis} does. */
export async function openRedis(
  { client, timeout, address }: RedisStoreSettings,
  feature: string,
  onState?: (error: unknown | undefined) => void,
): Promise<OpenRedis> {
  if (client !== undefined) return { client: client as Redis, timeout, close: () => {} }
  const own = await connectRedis(address, { feature, commandTimeout: timeout, ...(onState && { onState }) })
  return { client: own, timeout: undefined, close: () => own.disconnect() }
}
