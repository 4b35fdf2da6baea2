import { option } from '../options/index.ts'

/** The options of a call that stops a service: milliseconds that running work has to finish. */
export const stopOptions = option.shape({ timeout: option.ms().default(10_000) })
