import { described, type RouteOptions } from '../../kernel/index.ts'
import { accessMembers } from '../shared/descriptions/options.ts'
import { networkOption } from '../shared/http/network.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the metrics; outside of development they must restrict access by a policy, by addresses, or by a separate port. */
export interface MetricsOptions {
  /** The path of the metrics. Default `/metrics`. */
  path?: string
  /** The policies that a client must meet to read the metrics, as on any route. */
  policy?: RouteOptions['policy']
  /** The addresses and ranges, `10.0.0.0/8` for example, whose clients may read the metrics. */
  addresses?: readonly string[]
  /** A separate port for the metrics, which are then not on the public one. Worker n of several listens n - 1 ports above it. */
  port?: number
  /** The address on which that port listens. Default `127.0.0.1`. */
  host?: string
  /** Whether they also go to the OpenTelemetry SDK, which the application registers; they are then at `path` only if `policy`, `addresses` or `port` is set. Default false. */
  openTelemetry?: boolean
  /** Upper bounds of the durations of requests, in seconds. */
  buckets?: readonly number[]
  /** How many values a label of a metric may have; further values count as `other`. Default 100. */
  maxLabelValues?: number
  /** How many combinations of label values a metric may have. Default 1000. */
  maxSeries?: number
}

const ascending = 'a list of seconds in ascending order'
const buckets = option
  .list(option.number({ above: 0 }).required())
  .says(ascending)
  .into((given, place) => {
    const ascends = given.every((bound, i) => i === 0 || bound > given[i - 1]!)
    if (given.length === 0 || !ascends) place.wrong(described(`[${given.join(', ')}]`), ascending)
    return given
  })

export const metricsOptions = option
  .shape({
    path: option.name(/^\/[^:*?#]*$/, 'a path that begins with "/", without parameters').default('/metrics'),
    policy: accessMembers.policy,
    addresses: option.list(networkOption).says('a list of addresses and ranges'),
    port: option.int({ min: 0, max: 65_535 }),
    host: option.name(),
    openTelemetry: option.flag().default(false),
    buckets,
    maxLabelValues: option.int({ min: 1 }).default(100),
    maxSeries: option.int({ min: 1 }).default(1_000),
  })
  .into((given, place) => {
    if (given.host !== undefined && given.port === undefined)
      place.in('host').wrong(described('given'), 'a port together with it: the public port has the host of the server')
    return { ...given, host: given.host ?? '127.0.0.1' }
  })
  .typed<MetricsOptions>()

export type MetricsSettings = SettingsOf<typeof metricsOptions>
