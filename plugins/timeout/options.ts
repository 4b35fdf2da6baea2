import { option } from '../toolkit/options/index.ts'

/** Options of the time limit. */
export interface TimeoutOptions {
  /** Milliseconds from this plugin's place in the chain to the end of the chain. Default 30000. */
  ms?: number
}

const ms = option.ms({ above: 0 })

export const timeoutOptions = option.shape({ ms: ms.default(30_000) }).typed<TimeoutOptions>()

export const timeoutOfRoute = option.either(ms, option.off())
