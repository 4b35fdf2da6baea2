import type { ServiceStore, Services } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'

/** The services of a scope: for a check in the options, the scope of the probes; for a plugin's check, the scope of that plugin. */
export type CheckedServices = ServiceStore & Partial<Services>

/**
 * Checks whether one part works: `false`, a throw or a rejection means no, `'degraded'` that a substitute stands in and the server is still
 * ready, everything else means yes. It receives the services because the options of a server are written before that server exists.
 */
export type Check = (services: CheckedServices) => unknown

/** Options of the health probes. */
export interface HealthOptions {
  /** The path of the liveness probe; `false` for none. Default `/health/live`. */
  live?: string | false
  /** The path of the readiness probe; `false` for none. Default `/health/ready`. */
  ready?: string | false
  /** The checks for readiness, by name; each replaces a plugin's check of the same name. */
  checks?: { readonly [name: string]: Check }
  /** Milliseconds after which a check is considered failed. Default 2000. */
  timeout?: number
}

const path = option.either(option.name(/^\//, 'a path that begins with "/"'), option.off())

/** Checks by name. */
export const checks = option.record(option.fn<Check>().required(), 'an object of functions')

export const healthOptions = option
  .shape({
    live: path.default('/health/live'),
    ready: path.default('/health/ready'),
    checks: checks.default({}),
    timeout: option.ms({ above: 0 }).default(2_000),
  })
  .typed<HealthOptions>()
