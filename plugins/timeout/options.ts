import { option } from '../shared/options/index.ts'

/** Options of the timeout plugin. */
export interface TimeoutOptions {
  /** Milliseconds that the middlewares after this plugin and the handler may take together. Default 30000. */
  ms?: number
}

const ms = option.ms({ above: 0 })

export const timeoutOptions = option.shape({ ms: ms.default(30_000) }).typed<TimeoutOptions>()

export const timeoutOfRoute = option.either(ms, option.off())
