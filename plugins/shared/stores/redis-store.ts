import { isOptions } from '../../../kernel/index.ts'
import { Check, option, type SettingsOf } from '../options/index.ts'
import { type RedisAddress, redisOptions, redisPrefix } from './redis.ts'

/** A store in Redis: its address, or other options of `new Redis()` of `ioredis`, and how the plugin uses it. */
export interface RedisStoreOptions extends RedisAddress {
  /** A client of `ioredis` instead of an address; the server does not close it. */
  readonly client?: object
  /** Prefix of every key, for a Redis that several applications share. */
  readonly prefix?: string
  /** Milliseconds after which a command is considered failed. */
  readonly timeout?: number
}

type Named<Names extends string> = { readonly [Name in Names]: string | object }

/** The option `store` for a Redis: `'redis'` for that of `REDIS_URL`, an address, options or a client, or the options without a name. */
export type StoreInRedis<Options = RedisStoreOptions> =
  | 'redis'
  | { readonly redis: string | Options | Named<'defineCommand'> }
  | (Options & (Named<'url'> | Named<'host'> | Named<'client'>))

/** Makes an option for a Redis: an address, or options. */
export function redisStore(defaults: { readonly prefix: string; readonly timeout: number }) {
  const members = {
    client: option.value<object>('a client of ioredis', isClient),
    prefix: redisPrefix(defaults.prefix),
    timeout: option.ms({ above: 0 }).default(defaults.timeout),
  }
  const options = redisOptions(members)
    .into(({ client, prefix, timeout, ...address }) => ({ client, prefix, timeout, address }))
    .says('an address, or options of ioredis ({ url }, { host, port } or { client })')
  return orAddress(options)
}

/** Makes an option that also takes the address or the client alone. */
export function orAddress<Options extends RedisAddress, Settings>(
  options: Check<Options | undefined, Settings, 'filled'>,
): Check<string | Options | undefined, Settings, 'filled'> {
  const { parts } = options
  const isText = (given: unknown) => typeof given === 'string'
  return new Check({
    ...parts,
    // The client of another package is refused: read as options, its members would make a client for this machine's Redis.
    fits: (given) => isText(given) || isClient(given) || (parts.fits(given) && !has(given, 'get')),
    read(given: string | Options, place) {
      const named = isText(given) ? { url: given } : isClient(given) ? { client: given } : given
      return options.read(named as Options, place)
    },
  })
}

// Clients of other packages have commands with other names.
const isClient = (given: unknown) => has(given, 'get', 'setex', 'defineCommand')

const has = (given: unknown, ...methods: readonly string[]) =>
  methods.every((name) => typeof (Object(given) as Readonly<Record<string, unknown>>)[name] === 'function')

export type RedisStoreSettings = SettingsOf<ReturnType<typeof redisStore>>

/** Makes the forms of the option `store` that mean a Redis. */
export function inRedis<Given, Settings>(redis: Check<Given, Settings, 'filled'>) {
  const named = option.shape({ redis: redis.required() })
  return option.either(
    option.oneOf('redis').into(() => ({ redis: redis.parse({}) })),
    new Check<{ readonly redis: Given & {} } | (Given & object), { readonly redis: Settings }>({
      ...named.parts,
      takes: '{ redis: address or options }',
      fits: isInRedis,
      read: (given: object, place) =>
        'redis' in given ? named.read(given as never, place) : { redis: redis.read(given as Given, place) },
    }),
  )
}

/** Whether an object means a Redis: `{ redis }`, or options that say where it is. */
export const isInRedis = (given: unknown): boolean =>
  isOptions(given) && ['redis', 'url', 'host', 'client'].some((name) => Object.hasOwn(given, name))
