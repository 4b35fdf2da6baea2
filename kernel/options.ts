import type { RouteCollection } from './routing/collection.ts'
import { defaultLimits, type Limits, type TlsOptions } from './runtime/adapter.ts'
import type { Logger } from './support/logger.ts'
import { checkOptions, OptionError, quoted } from './support/options.ts'

/** Options of the kernel; every time is in milliseconds. */
export interface KernelOptions {
  /** Else the environment's `PORT`, else 3000; 0 picks a free port. */
  port?: number
  /** Else the environment's `HOST`, else `0.0.0.0`. */
  host?: string
  /** The collection to serve; default: the `router` of the process. */
  router?: RouteCollection
  logger?: Logger
  /** Close on SIGTERM and SIGINT once listening; default true. */
  gracefulShutdown?: boolean
  /** The whole of closing; connections that are left then are cut. Default 10000. */
  closeTimeout?: number
  /** How long everything is still served, while readiness says no, before the listener closes. Default 300. */
  drainWindow?: number
  /** For each plugin's setup; default 10000. */
  bootTimeout?: number
  /** Until a request is answered, from when something of it is waited for; default 30000, 0 for no limit. */
  requestTimeout?: number
  /** Take `x-request-id` from the client as `req.id`; default false. */
  trustRequestId?: boolean
  limits?: Partial<Limits>
  /** Key and certificate; the server then speaks https. */
  https?: TlsOptions
  /** Closes the server when it aborts. */
  abortSignal?: AbortSignal
  /** The server beneath: that of the runtime, or `node` for `node:http` on Bun and Deno, which enforces every limit. */
  adapter?: 'node' | 'bun' | 'deno'
}

/** The same with every default in place. */
export interface ResolvedKernelOptions {
  readonly port: number
  readonly host: string
  readonly gracefulShutdown: boolean
  readonly closeTimeout: number
  readonly drainWindow: number
  readonly bootTimeout: number
  readonly requestTimeout: number
  readonly trustRequestId: boolean
  readonly limits: Limits
  readonly https: TlsOptions | undefined
  readonly abortSignal: AbortSignal | undefined
  readonly adapter: 'node' | 'bun' | 'deno' | undefined
  /** The logger that was given, `undefined` when the server makes its own. */
  readonly logger: Logger | undefined
}

function portOf(option: unknown): number {
  const [name, value] = option === undefined ? ['PORT (of the environment)', process.env.PORT] : ['port', option]
  if (value === undefined || value === '') return 3000
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw OptionError(String(name), quoted(value), 'a whole number from 0 to 65535')
  }
  return port
}

function hostOf(option: unknown): string {
  const given = option === undefined ? process.env.HOST || undefined : option
  if (given === undefined) return '0.0.0.0'
  // An address with a user in it would be looked up as a name, and stand in the error of that.
  if (typeof given !== 'string' || given === '' || /[\s/@?#]/.test(given)) {
    throw OptionError(option === undefined ? 'HOST (of the environment)' : 'host', given, 'a host name or an address')
  }
  return given
}

function milliseconds(name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value !== 'number' || !(value >= 0) || value > 2_147_483_647)
    throw OptionError(name, quoted(value), 'milliseconds, 0 or more')
  return value
}

/** A path in its place would fail in OpenSSL, which does not say what was meant. */
const isPem = (value: unknown) =>
  (typeof value === 'string' || value instanceof Uint8Array) && Buffer.from(value).includes('-----BEGIN ')
const isBoolean = (value: unknown) => typeof value === 'boolean'
const has = (value: unknown, ...methods: string[]) =>
  methods.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function')

// What the types say as well; a text like 'false', from the environment for example, would else count as yes.
const shapes: [name: keyof KernelOptions, fits: (value: never) => boolean, expected: string][] = [
  ['gracefulShutdown', isBoolean, 'true or false'],
  ['trustRequestId', isBoolean, 'true or false'],
  [
    'logger',
    (value) => has(value, 'debug', 'info', 'warn', 'error', 'child'),
    'a logger with debug, info, warn, error and child',
  ],
  ['router', (value: RouteCollection | null) => has(value, 'get', 'clearRoutes'), 'a RouteCollection'],
  ['abortSignal', (value) => has(value, 'addEventListener'), 'an AbortSignal'],
  [
    'https',
    (value: TlsOptions | null) => isPem(value?.key) && isPem(value?.cert),
    '{ key, cert } in PEM: what the files hold, and not their paths',
  ],
]

/** The names of the kernel's options. */
export const kernelOptions = [
  'port',
  'host',
  'router',
  'logger',
  'gracefulShutdown',
  'closeTimeout',
  'drainWindow',
  'bootTimeout',
  'requestTimeout',
  'trustRequestId',
  'limits',
  'https',
  'abortSignal',
  'adapter',
] satisfies (keyof KernelOptions)[]

/** Fills in the defaults and refuses what cannot be meant. */
export function resolveOptions(options: KernelOptions): ResolvedKernelOptions {
  checkOptions('', options, kernelOptions)
  if (options.adapter !== undefined && !['node', 'bun', 'deno'].includes(options.adapter)) {
    throw OptionError('adapter', quoted(options.adapter), '"node", "bun" or "deno"')
  }
  for (const [name, fits, expected] of shapes) {
    const value = options[name]
    if (value === undefined || fits(value as never)) continue
    throw OptionError(name, fits === isBoolean ? quoted(value) : value, expected)
  }
  const limits = { ...defaultLimits }
  checkOptions('limits', options.limits ?? {}, Object.keys(defaultLimits))
  for (const [name, value] of Object.entries(options.limits ?? {})) {
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value > 0))
      throw OptionError(`limits.${name}`, quoted(value), 'a number above 0')
    limits[name as keyof Limits] = value
  }
  return {
    port: portOf(options.port),
    host: hostOf(options.host),
    gracefulShutdown: options.gracefulShutdown ?? true,
    closeTimeout: milliseconds('closeTimeout', options.closeTimeout, 10_000),
    drainWindow: milliseconds('drainWindow', options.drainWindow, 300),
    bootTimeout: milliseconds('bootTimeout', options.bootTimeout, 10_000),
    requestTimeout: milliseconds('requestTimeout', options.requestTimeout, 30_000),
    trustRequestId: options.trustRequestId ?? false,
    limits,
    https: options.https,
    abortSignal: options.abortSignal,
    adapter: options.adapter,
    logger: options.logger,
  }
}
