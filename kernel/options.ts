import type { RouteCollection } from './routing/collection.ts'
import { defaultLimits, type Limits, type TlsOptions } from './runtime/adapter.ts'
import type { Check } from './support/check.ts'
import type { Logger } from './support/logger.ts'
import * as option from './support/option.ts'
import { quoted } from './support/options.ts'

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
  /** The collection that was given, `undefined` for the one of the process. */
  readonly router: RouteCollection | undefined
  /** The logger that was given, `undefined` when the server makes its own. */
  readonly logger: Logger | undefined
}

const portTakes = 'a whole number from 0 to 65535'
const isPort = (given: unknown) => Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 65_535

const port = option.custom<number, number>(portTakes, (given, place) => {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return isPort(value) ? (value as number) : void place.wrong(quoted(given), portTakes)
})

// An address with a user in it would be looked up as a name, and stand in the error of that.
const host = option.text(/^[^\s/@?#]+$/, 'a host name or an address')

/** A path in its place would fail in OpenSSL, which does not say what was meant. */
const isPem = (value: unknown) =>
  (typeof value === 'string' || value instanceof Uint8Array) && Buffer.from(value).includes('-----BEGIN ')
const isTls = (given: unknown) => isPem((given as TlsOptions | null)?.key) && isPem((given as TlsOptions | null)?.cert)

const limit = option.number({ above: 0 })

/** The checks of the kernel's options. */
export const kernelMembers = {
  port,
  host,
  router: option.having<RouteCollection>(['get', 'clearRoutes'], 'a RouteCollection'),
  logger: option.having<Logger>(
    ['debug', 'info', 'warn', 'error', 'child'],
    'a logger with debug, info, warn, error and child',
  ),
  gracefulShutdown: option.flag().default(true),
  closeTimeout: option.ms().default(10_000),
  drainWindow: option.ms().default(300),
  bootTimeout: option.ms().default(10_000),
  requestTimeout: option.ms().default(30_000),
  trustRequestId: option.flag().default(false),
  limits: option.shape(
    Object.fromEntries(Object.entries(defaultLimits).map(([name, value]) => [name, limit.default(value)])) as Record<
      keyof Limits,
      ReturnType<typeof limit.default>
    >,
  ),
  https: option.value<TlsOptions>('{ key, cert } in PEM: what the files hold, and not their paths', isTls),
  abortSignal: option.having<AbortSignal>(['addEventListener'], 'an AbortSignal'),
  adapter: option.oneOf('node', 'bun', 'deno'),
}

/** Reads the options of the kernel; what is left out comes from the environment, or has a default. */
export const kernelOptions = option.shape(kernelMembers).into((given, place): ResolvedKernelOptions => {
  const fromEnvironment = <Value>(check: Check<never, Value>, name: string): Value | undefined =>
    // In the environment empty is as good as missing.
    check.read(process.env[name] || undefined, place.in(`${name} (of the environment)`))
  return {
    ...given,
    port: given.port ?? fromEnvironment(port, 'PORT') ?? 3000,
    host: given.host ?? fromEnvironment(host, 'HOST') ?? '0.0.0.0',
  }
})
