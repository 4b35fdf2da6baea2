import type { ResolvedKernelOptions } from '../kernel/options.ts'
import { announcePluginData } from '../kernel/plugin/define.ts'
import type { RouteCollection } from '../kernel/routing/collection.ts'
import { defaultLimits, type Limits, type TlsOptions } from '../kernel/runtime/adapter.ts'
import type { Logger } from '../kernel/support/logger.ts'
import { type OptionPlace, quoted } from '../kernel/support/options.ts'
import { inspection } from './shared/development/inspection.ts'
import { Substitutes } from './shared/development/substitutes.ts'
import { variable } from './shared/environment/process.ts'
import { FormattedFailures } from './shared/failures/formatted-failures.ts'
import { bodies } from './shared/http/bodies.ts'
import { parseQuery } from './shared/http/query.ts'
import { rewriteRequest } from './shared/http/rewrite.ts'
import { fallbackLogger, guardedLogger } from './shared/logging/logger.ts'
import { readVariablesBy, type SettingsOf } from './shared/options/check.ts'
import * as option from './shared/options/option.ts'
import { workersOfProcess } from './workers.ts'

readVariablesBy(variable)
// What our own plugins read of the definitions of others, whichever of them are loaded: a misspelt member is refused.
const read = 'access asyncapi commands doctor health inspector memory metrics notes openWork openapi reaches runs work'
for (const member of read.split(' ')) announcePluginData(member)

const portTakes = 'a whole number from 0 to 65535'
const isPort = (given: unknown) => Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 65_535

const port = option.custom<number, number>(portTakes, (given, place) => {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return isPort(value) ? (value as number) : void place.wrong(quoted(given), portTakes)
})

// An address with a user in it would be looked up as a host name, and would appear in the error about it.
const host = option.text(/^[^\s/@?#]+$/, 'a host name or an address')

/** Whether a value is PEM: a path instead would fail in OpenSSL, with an unclear message. */
const isPem = (value: unknown) =>
  (typeof value === 'string' || value instanceof Uint8Array) && Buffer.from(value).includes('-----BEGIN ')
const isTls = (given: unknown) => isPem((given as TlsOptions | null)?.key) && isPem((given as TlsOptions | null)?.cert)

const limit = option.number({ above: 0 })

/**
 * The checks of the kernel's options.
 *
 * @example
 * const serverOptions = option.shape({ port: kernelMembers.port, region: option.text().default('eu') })
 */
export const kernelMembers = {
  port: port.env('PORT').default(3000),
  host: host.env('HOST').default('0.0.0.0'),
  router: option.having<RouteCollection>(['get', 'clearRoutes'], 'a RouteCollection'),
  logger: option.having<Logger>(
    ['debug', 'info', 'warn', 'error', 'child'],
    'a logger with debug, info, warn, error and child; plugins: { log: { level: "silent" } } writes no lines',
  ),
  gracefulShutdown: option.flag().default(true),
  closeTimeout: option.ms().default(10_000),
  drainWindow: option.ms(),
  bootTimeout: option.ms().default(10_000),
  requestTimeout: option.ms().default(30_000),
  trustRequestId: option.flag().default(false),
  limits: option.shape(
    Object.fromEntries(Object.entries(defaultLimits).map(([name, value]) => [name, limit.default(value)])) as Record<
      keyof Limits,
      ReturnType<typeof limit.default>
    >,
  ),
  https: option.value<TlsOptions>('{ key, cert } in PEM: the contents of the files, not their paths', isTls),
  abortSignal: option.having<AbortSignal>(['addEventListener'], 'an AbortSignal'),
  adapter: option.oneOf('node', 'bun', 'deno'),
}

const members = option.shape(kernelMembers)

/** What the kernel's options mean; an omitted port or host comes from the environment, or has a default. */
export function kernelSettings(given: SettingsOf<typeof members>, place: OptionPlace): ResolvedKernelOptions {
  const { closeTimeout, limits } = given
  if (limits.headersTimeout > limits.receiveTimeout) {
    const takes = `at most limits.receiveTimeout, which is ${limits.receiveTimeout} and includes it: lower it, or raise receiveTimeout`
    place.in('limits').in('headersTimeout').wrong(limits.headersTimeout, takes)
  }
  // The rest of the time belongs to requests and hooks.
  const longestWindow = closeTimeout / 2
  const { drainWindow = Math.min(300, longestWindow) } = given
  if (drainWindow > longestWindow)
    place.in('drainWindow').wrong(drainWindow, `at most half of closeTimeout, which is ${closeTimeout}`)
  return {
    ...given,
    drainWindow,
    logger: given.logger ?? fallbackLogger(),
    guarded: guardedLogger,
    errorFormat: new FormattedFailures(),
    parseQuery,
    rewrite: rewriteRequest,
    bodies,
    inspection,
    workers: workersOfProcess(),
    substitutes: new Substitutes(),
    catalog: { names: [], companion: () => undefined, absent: () => undefined },
  }
}

/**
 * Reads the options of the kernel; a `Kernel` accepts only the result.
 *
 * @example
 * const kernel = new Kernel(kernelOptions.parse({ port: 0 }))
 */
export const kernelOptions = members.into(kernelSettings)
