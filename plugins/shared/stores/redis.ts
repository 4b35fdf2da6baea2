import { foreignOption } from '../options/foreign-options.ts'
import { Check, option } from '../options/index.ts'
import { defined } from '../values/json.ts'
import { addressOf, addressOption, shownAddress } from './address.ts'

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
