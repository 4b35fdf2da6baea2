import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of load shedding. */
export interface OverloadOptions {
  /** Milliseconds by which the event loop may be delayed on average; `false` for no limit. Default 200. */
  maxEventLoopDelay?: number | false
  /**
   * How much the heap may use: bytes, or a string such as `'400mb'`; `false` for no limit. Default 90 % of V8's limit; none on Bun, which
   * does not report it.
   */
  maxHeapUsed?: number | string | false
  /** How many requests may be in progress at once; `false` for no limit. Default 1000. */
  maxRequestsInFlight?: number | false
  /** Seconds of `Retry-After`. Default 5. */
  retryAfter?: number
  /** Milliseconds between two samples of the event loop and the heap. Default 250. */
  sampleInterval?: number
}

export const overloadOptions = option
  .shape({
    maxEventLoopDelay: option.either(option.ms({ above: 0 }), option.off()).default(200),
    maxHeapUsed: option.either(option.size(), option.off()),
    maxRequestsInFlight: option.either(option.int({ min: 1 }), option.off()).default(1_000),
    retryAfter: option.int({ min: 1 }).says('a whole number of seconds above 0').default(5),
    sampleInterval: option.ms({ min: 20 }).default(250),
  })
  .typed<OverloadOptions>()

export type OverloadSettings = SettingsOf<typeof overloadOptions>

export const overloadOfRoute = option.off()
