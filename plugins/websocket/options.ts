import { isOptions, type OptionPlace } from '../../kernel/index.ts'
import { originOption } from '../shared/http/origins.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { isSchema } from '../shared/schema/check.ts'
import { isStandardSchema } from '../shared/schema/standard.ts'
import { timeoutOption } from '../shared/work/attempt.ts'
import type { AnyHandlers, MessageSchemas } from './types.ts'

/** How to treat a message to a client that does not read: see {@link WebsocketLimits.slowReaders}. */
export type SlowReaders = 'close' | 'drop' | 'wait'

/** Limits of one websocket; a route may have its own. */
export interface WebsocketLimits {
  /** Bytes of one message, or a string such as `'64kb'`; a longer message closes the socket with 1009. Default 1 MB. */
  maxMessageSize?: number | string
  /** Average messages and pings a second per client, twice as many in a burst; more closes with 1008. `false`: no limit. Default 100. */
  messagesPerSecond?: number | false
  /** Bytes that may wait for one client before it counts as a slow reader. Default 1 MB. */
  maxBuffered?: number | string
  /**
   * `'close'`, the default, closes the socket of a slow reader with 1013 · `'drop'` drops the message, and `send` returns false ·
   * `'wait'` keeps sending, but reads no message from this client until it has caught up; eight times `maxBuffered` closes the socket.
   */
  slowReaders?: SlowReaders
  /**
   * Milliseconds after which the handler of a message has failed: its `signal` aborts, `error` is called, and the next message is handled.
   * Default: none.
   */
  timeout?: number
}

/** Options of the websocket plugin. */
export interface WebsocketOptions extends WebsocketLimits {
  /**
   * The pages that may open a websocket, since browsers send cookies: `'same'`, the default, accepts the origin of the server itself,
   * a list also its members (`https://example.com`), and `'any'` all origins. Clients without an `Origin` are not browsers, and pass.
   */
  origins?: 'same' | 'any' | readonly string[]
  /** The maximum number of open sockets; a further one is refused with 503. Default 10000. */
  maxSockets?: number
  /** The maximum for an address, or an IPv6 network; a further socket is refused with 429. `false`: no limit. Default false. */
  maxSocketsPerAddress?: number | false
  /** Milliseconds between pings; a client that has not responded by the next ping is disconnected. `false`: no pings. Default 30000. */
  pingInterval?: number | false
  /** Whether messages from 1 kB up are compressed (RFC 7692). Costs CPU time and, for each socket, memory. Not on Deno. Default false. */
  compression?: boolean
  /**
   * Milliseconds that clients have to respond to a close frame before their connection is ended. Default 1500, so that a
   * server stops within two seconds after its drain window even if clients do not respond.
   */
  closeTimeout?: number
}

/** Options of the websocket of one route: its limits, and the sub-protocols. */
export interface WebsocketRouteOptions extends WebsocketLimits {
  /** Sub-protocols (RFC 6455 section 1.9), the preferred one first. If set, a client that offers none of them is refused. */
  protocols?: readonly string[]
  /** The origins of pages that may connect, instead of the plugin's. */
  origins?: 'same' | 'any' | readonly string[]
}

const origins = option.either(option.oneOf('same', 'any'), option.list(originOption, { min: 1 })).guard()
const rate = option.either(option.int({ min: 1 }), option.off())

/** `ws` reads the limit as 32 bits, so that 4 GB would mean no limit; and a string cannot be longer than 512 MB. */
const longestMessage = 256 * 1024 * 1024

const limits = {
  maxMessageSize: option.size().into((bytes, place) => {
    if (bytes > longestMessage) place.wrong(bytes, 'at most "256mb"')
    return bytes
  }),
  messagesPerSecond: rate,
  maxBuffered: option.size(),
  slowReaders: option.oneOf('close', 'drop', 'wait'),
  timeout: timeoutOption,
}

export const websocketOptions = option
  .shape({
    maxMessageSize: limits.maxMessageSize.default('1mb'),
    messagesPerSecond: limits.messagesPerSecond.default(100),
    maxBuffered: limits.maxBuffered.default('1mb'),
    slowReaders: limits.slowReaders.default('close'),
    timeout: limits.timeout,
    origins: origins.default('same'),
    maxSockets: option.int({ min: 1 }).default(10_000),
    maxSocketsPerAddress: option.either(option.int({ min: 1 }), option.off()).default(false),
    pingInterval: option.either(option.ms({ min: 1000 }), option.off()).default(30_000),
    compression: option.flag().default(false),
    closeTimeout: option.ms({ min: 1 }).default(1500),
  })
  .typed<WebsocketOptions>()

export type WebsocketSettings = SettingsOf<typeof websocketOptions>

const token = option.name(/^[\w!#$%&'*+.^`|~-]+$/, 'a sub-protocol: a token of RFC 9110 section 5.6.2')

/** @internal */
export const socketOfRoute = option
  .shape({ ...limits, protocols: option.list(token, { min: 1 }), origins })
  .typed<WebsocketRouteOptions>()

// A handler that is lost by a wrong import may be what refuses clients.
const events = ['data', 'open', 'message', 'close', 'error'] as const

export const handlersOfRoute = option
  .shape(
    Object.fromEntries(events.map((name) => [name, option.fn().guard()])) as Record<(typeof events)[number], never>,
  )
  .into((given) => given as AnyHandlers)

/** The schemas of messages, by type. */
export const schemasOfRoute = option.custom<MessageSchemas, MessageSchemas>('schemas by type', readSchemas)

function readSchemas(given: unknown, place: OptionPlace): MessageSchemas | undefined {
  const takes = 'an object of schemas by the type of the message: { joined: schema }'
  if (!isOptions(given)) return void place.wrong(given, takes)
  // A schema itself would be read as the schemas of types named `type`, `properties` and so on.
  if (isStandardSchema(given) || ('type' in given && typeof given.type === 'string'))
    return void place.wrong(given, `${takes}, not one schema`)
  const entries = Object.entries(given)
  if (entries.length === 0) place.wrong(given, takes)
  for (const [type, schema] of entries) if (!isSchema(schema)) place.in(type).wrong(schema, 'a schema')
  return given as MessageSchemas
}
