import type { ServiceStore, Services } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'

/** The services of a scope: for a check in the options, the scope of the probes; for a plugin's check, the scope of that plugin. */
export type CheckedServices = ServiceStore & Partial<Services>

/** One call of a check. */
export interface CheckCall {
  /** Aborts when the time for the check is over. */
  readonly signal: AbortSignal
}

/**
 * Checks whether one part works: `false`, a throw or a rejection means no, `'degraded'` that a substitute stands in and the server is still
 * ready, everything else means yes. It receives the services because the options of a server are written before that server exists.
 */
export type Check = (services: CheckedServices, call: CheckCall) => unknown

/** What a failing check makes of the server: not ready, or ready with less than it should have. */
export type CheckFailure = 'error' | 'degraded'

/** A check, and how its outcome counts. */
export interface HealthCheck {
  /** Asks whether the part works. */
  readonly check: Check
  /** What a failure means; a function receives the services and decides. Default `'error'`: the server is not ready. */
  readonly onFailure?: CheckFailure | ((services: CheckedServices) => CheckFailure)
  /** Milliseconds for which the result of a call is used again, for a check that costs money or quota. Default 0: every probe asks. */
  readonly cacheFor?: number
  /** What to do while it fails, as an imperative, for `framework doctor`. */
  readonly remedy?: string
}

/** Options of the health probes. */
export interface HealthOptions {
  /** The path of the liveness probe; `false` for none. Default `/health/live`. */
  live?: string | false
  /** The path of the readiness probe; `false` for none. Default `/health/ready`. */
  ready?: string | false
  /** The checks for readiness, by name; each replaces a plugin's check of the same name. */
  checks?: { readonly [name: string]: Check | HealthCheck }
  /** Milliseconds after which a check is considered failed. Default 2000. */
  timeout?: number
  /** Names of checks whose failure leaves the server ready, with the status `degraded`. */
  degrade?: readonly string[]
  /** Names of checks without which the server is not ready, even if they only degrade it by default. */
  require?: readonly string[]
  /** Names of checks that are not run. */
  off?: readonly string[]
  /** Milliseconds for which the result of a check is used again, by its name; 0: every probe asks. */
  cacheFor?: { readonly [name: string]: number }
}

const path = option.either(option.name(/^\//, 'a path that begins with "/"'), option.off())
const fn = option.fn<Check>()

const full = option.shape({
  check: fn.required(),
  onFailure: option.either(option.oneOf('error', 'degraded'), option.fn<(services: CheckedServices) => CheckFailure>()),
  cacheFor: option.ms(),
  remedy: option.text(),
})

/** Checks by name. */
export const checks = option.record(
  option
    .either(
      fn.into((check) => full.parse({ check })),
      full,
    )
    .says('a function, or { check, onFailure, cacheFor, remedy }')
    .required(),
  'an object of functions',
)

/** A check as it was read. */
export type ReadCheck = SettingsOf<typeof checks>[string]

const names = option.list(option.name()).default([])

export const healthOptions = option
  .shape({
    live: path.default('/health/live'),
    ready: path.default('/health/ready'),
    checks: checks.default({}),
    timeout: option.ms({ above: 0 }).default(2_000),
    degrade: names,
    require: names,
    off: names,
    cacheFor: option.record(option.ms(), 'milliseconds by the name of a check').default({}),
  })
  .into((given, place) => {
    // A check in two of these lists contradicts itself.
    for (const [list, other] of [
      ['degrade', 'require'],
      ['degrade', 'off'],
      ['require', 'off'],
    ] as const)
      for (const name of given[list].filter((one) => given[other].includes(one)))
        place.problem(
          `${place.in(list).path} and ${place.in(other).path} both name the check "${name}". Leave it out of one of them`,
        )
    return given
  })
  .typed<HealthOptions>()

export type HealthSettings = SettingsOf<typeof healthOptions>
