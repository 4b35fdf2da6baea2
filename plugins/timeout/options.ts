import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** Options of the time limit. */
export interface TimeoutOptions {
  /** Milliseconds from this plugin's place in the chain to the end of the chain. Default 30000. */
  ms?: number
}

export function limitOf(options: TimeoutOptions = {}): number {
  checkOptions('timeout', options, ['ms'])
  const { ms = 30_000 } = options
  return milliseconds('timeout.ms', ms)
}

/** What the route option takes; `undefined` when the route has none. */
export function limitOfRoute(option: unknown): number | false | undefined {
  return option === undefined || option === false ? option : milliseconds('timeout', option, ', or false')
}

function milliseconds(name: string, value: unknown, more = ''): number {
  // Above that, timers fire at once.
  if (typeof value !== 'number' || !(value > 0) || value > 2_147_483_647) {
    throw OptionError(name, quoted(value), `milliseconds above 0${more}`)
  }
  return value
}
