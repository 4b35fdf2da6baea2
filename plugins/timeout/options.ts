import { option } from '../toolkit/options/index.ts'

/** Options of the time limit. */
export interface TimeoutOptions {
  /** Limit for the middlewares after this plugin and the handler together, in milliseconds. Default 30000. */
  ms?: number
}

const ms = option.ms({ above: 0 })

export const timeoutOptions = option.shape({ ms: ms.default(30_000) }).typed<TimeoutOptions>()

export const timeoutOfRoute = option.either(ms, option.off())
