import type { Writable } from 'node:stream'
import { defineErrors, isInTime, systemClock } from '../../../kernel/index.ts'
import { peer } from '../environment/optional-package.ts'
import { foreignOption } from '../options/foreign-options.ts'
import { Check, option } from '../options/index.ts'
import { defined } from '../values/json.ts'
import { inOneWrite } from '../values/one-write.ts'
import { safely } from '../values/safely.ts'
import { addressOf, addressOption, shownAddress } from './address.ts'
import { answerWithin } from './availability.ts'

/** An address, and the other options of `new Redis()` of `ioredis`: `host`, `password`, `keyPrefix`, `tls` … */
export interface RedisAddress {
  /**
   * The address: `redis://` or `rediss://`. Default `REDIS_URL`, otherwise `redis://127.0.0.1:6379`; ignored together with `host` or
   * `path`, and `port` alone is a port of this machine.
   */
  readonly url?: string | undefined
  readonly [option: string]: unknown
}

/** The address of a Redis as a string. */
export const redisUrl = addressOption('redis')

/** An option for a number or its digits: variables of the environment are strings. */
const digits = (from: number, to: number, takes: string) =>
  option.value<number | string>(takes, (given) => {
    const number = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
    return Number.isInteger(number) && (number as number) >= from && (number as number) <= to
  })

// May also be empty: a variable of the environment that is not set.
const text = option.value<string>('text', (given) => typeof given === 'string')

/** An option for the prefix of keys. */
export const redisPrefix = (fallback: string) => text.default(fallback)

const members = {
  url: redisUrl,
  host: option.name(),
  port: digits(1, 65_535, 'a port from 1 to 65535'),
  path: option.name(),
  db: digits(0, Number.MAX_SAFE_INTEGER, 'the number of a database, 0 or more'),
  username: text.secret(),
  password: text.secret(),
}

/** `ioredis` ignores a `commandTimeout` that is not a number, so that requests wait without end, and passes each `connectTimeout` to its socket. */
const timeouts = { commandTimeout: option.ms({ above: 0 }), connectTimeout: option.ms() }

/** Whether a value is a client. Its members are not options: read as such, they would make another client, for this machine's Redis. */
const isClient = (given: unknown) => typeof (given as { sendCommand?: unknown }).sendCommand === 'function'

/** Options of a Redis, together with those of the plugin, such as its `prefix`. */
export function redisOptions<More extends option.Members = {}>(
  more?: More,
): Check<RedisAddress | undefined, RedisAddress & option.ShapeValue<More>, 'filled'> {
  const own = { ...members, ...more }
  // The package has other timeouts with names close to these.
  const foreign = foreignOption([...Object.keys(own), 'family', 'tls', 'keyPrefix'])
  const check = option.shape({ ...own, ...timeouts }, foreign)
  const takes = 'options of ioredis ({ url }, or { host, port } and so on)'
  // The check is narrower than the type, which allows options of ioredis that this version does not know.
  return new Check({ ...check.parts, takes, fits: (given) => check.parts.fits(given) && !isClient(given) }) as never
}

/** The address of a Redis, if it has one, as the first argument of `new Redis()`, and the options as the next. */
export function redisPlace({ url, ...options }: RedisAddress): { place: [] | [url: string]; options: object } {
  const { host, path, port } = options
  const isPlaced = host !== undefined || path !== undefined || (url === undefined && port !== undefined)
  return { place: isPlaced ? [] : [addressOf('redis', url)], options: defined(options) }
}

/** The address as messages show it: without the password. A client of ioredis has it in its options. */
export function shownRedis(address: RedisAddress, client?: object): string {
  const own = client && { place: [], options: Object((client as { options?: unknown }).options) as object }
  const { place, options } = own ?? redisPlace(address)
  // The package asks a sentinel for the address, and does not connect to any other one that it is given.
  type Place = { host?: string; port?: number; path?: string; sentinels?: readonly Place[] | null }
  const sentinel = (options as Place).sentinels?.[0]
  if (sentinel === undefined && place[0] !== undefined) return shownAddress(place[0])
  const { host = '127.0.0.1', port = sentinel ? 26379 : 6379, path } = sentinel ?? (options as Place)
  return path ?? `redis://${host}:${port}`
}

/** What a connection is for, and its timeouts. */
export interface RedisUse {
  /** The feature, for the error about a missing package: `the session plugin (store redis)`. */
  readonly feature: string
  /** Milliseconds to wait for the response to one command. */
  readonly commandTimeout: number
  /** Called at each failed attempt to connect, and at each success. Failing commands report their reasons themselves. */
  onState?(error: unknown | undefined): void
}

/** A command of a client. */
interface SentCommand {
  readonly promise: Promise<unknown>
  reject(error: Error): void
  setTimeout(ms: number): void
}

/** The members of every client, in addition to the commands. */
interface Connection {
  readonly options: Record<string, unknown>
  /** The socket, once there is one. */
  readonly stream?: Writable
  sendCommand(command: SentCommand, stream?: unknown): Promise<unknown>
  on(event: 'connect' | 'error' | 'ready', listener: (error?: unknown) => void): unknown
  connect(): Promise<unknown>
  disconnect(reconnect?: boolean): void
}

/**
 * Makes a client. The query of an address is text, which a socket refuses where a number is needed, outside of any promise; and `ioredis` would
 * ignore the text of a `commandTimeout`. What cannot be read is as usual.
 */
export function makeClient<Client>(Class: new (...args: never[]) => Client, place: [] | [string], usual: object) {
  const client: Client = Reflect.construct(Class, [...place, usual])
  const { defaultOptions } = Class as { readonly defaultOptions?: object }
  const { options } = client as { readonly options: Record<string, unknown> }
  for (const [name, one] of Object.entries({ ...defaultOptions, ...usual })) {
    const given = options[name]
    if (typeof given !== 'string' || typeof one === 'string' || one === null) continue
    const read: unknown = safely(() => JSON.parse(given))
    options[name] = typeof read === typeof one && (read === false || Number(read) > 0) ? read : one
  }
  return client
}

const { RedisDatabaseError } = defineErrors({
  RedisDatabaseError: (database: unknown, why: string) =>
    `Redis refuses the database ${database}: ${why}. The number comes from the address (redis://127.0.0.1:6379/3) or the option db, and must be below the setting "databases" of that Redis, 16 by default`,
})

let isSending = false

/** Whether the command that is just being sent is one of the framework: what the drivers report about it does not name the client. */
export const isOwnCommand = (): boolean => isSending

type Sending = { sendCommand(command: never, stream?: never): unknown }

/**
 * Reports each failed attempt to connect, and each success; all other errors of a client are ignored. Its commands are the framework's own.
 *
 * A client whose database was refused would continue in database 0, among the keys of another application: so it is disconnected before
 * it is ready, and tries again.
 */
export function watchConnection(
  client: Pick<Connection, 'on' | 'disconnect'> & Sending,
  onState: (error: unknown | undefined) => void,
): void {
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
  client.on('error', (error) => {
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
function improve(client: Connection): void {
  const send = client.sendCommand.bind(client)
  client.sendCommand = (command, stream) => {
    command.setTimeout = (ms) => {
      answerWithin(command.promise, ms).catch(() => command.reject(new Error('Command timed out')))
    }
    if (client.stream !== undefined) inOneWrite(client.stream)
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
 * The type of the client is the part that is used: the types of the package have thousands of overloads.
 *
 * @throws (as a rejection) PeerMissingError without the package, OptionError for an invalid address in the environment,
 * RedisDatabaseError.
 */
export async function connectRedis<Client>(
  address: RedisAddress,
  { feature, commandTimeout, onState }: RedisUse,
): Promise<Client & Pick<Connection, 'disconnect'>> {
  const { Redis } = (await peer('ioredis', () => import('ioredis'), feature)) as unknown as {
    Redis: new () => Connection
  }
  const { place, options } = redisPlace(address)
  const client = makeClient(Redis, place, { ...forCallers, commandTimeout, ...options, lazyConnect: true })
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
  return client as Connection & Client
}
