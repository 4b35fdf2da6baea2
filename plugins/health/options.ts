import { checkOptions, OptionError, quoted, type ServiceStore, type Services } from '../../kernel/index.ts'

/** The services that the scope of the probes has. */
export type CheckedServices = ServiceStore & Partial<Services>

/**
 * Says whether one part works: `false`, a throw and a rejection mean no, everything else yes. It gets the services, because
 * an option of a server cannot name that server.
 */
export type Check = (services: CheckedServices) => unknown

/** Options of the health probes. */
export interface HealthOptions {
  /** The path of the liveness probe, `false` for none. Default `/health/live`. */
  live?: string | false
  /** The path of the readiness probe, `false` for none. Default `/health/ready`. */
  ready?: string | false
  /** What must work for the server to be ready, by name. */
  checks?: { readonly [name: string]: Check }
  /** Milliseconds after which a check counts as failed. Default 2000. */
  timeout?: number
}

/** The options with every default in place, checked. */
export function settingsOf(options: HealthOptions = {}): Required<HealthOptions> {
  checkOptions('health', options, ['live', 'ready', 'checks', 'timeout'])
  const { live = '/health/live', ready = '/health/ready', checks = {}, timeout = 2_000 } = options
  for (const [name, path] of Object.entries({ live, ready })) {
    if (path !== false && (typeof path !== 'string' || !path.startsWith('/'))) {
      throw OptionError(`health.${name}`, quoted(path), 'a path that begins with "/", or false')
    }
  }
  if (typeof checks !== 'object' || checks === null || Array.isArray(checks)) {
    throw OptionError('health.checks', checks, 'an object of functions')
  }
  for (const [name, check] of Object.entries(checks)) {
    if (typeof check !== 'function') throw OptionError(`health.checks.${name}`, check, 'a function')
  }
  if (typeof timeout !== 'number' || !(timeout > 0) || timeout > 2_147_483_647) {
    throw OptionError('health.timeout', quoted(timeout), 'milliseconds above 0')
  }
  return { live, ready, checks, timeout }
}
