const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_557_600_000,
}
const duration =
  /^(\d+(?:\.\d+)?|\.\d+) ?(?:(ms|milliseconds?|msecs?)|(s|seconds?|secs?)|(m|minutes?|mins?)|(h|hours?|hrs?)|(d|days?)|(w|weeks?)|(y|years?|yrs?))?$/i

/**
 * Parses a time such as `'7d'` or `'30 minutes'`, to milliseconds; a number without a unit is also in milliseconds. `undefined` for
 * anything else.
 *
 * @example
 * parseDuration('1.5 hours') // 5400000
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 50) return undefined
  const [, amount, ...found] = duration.exec(value) ?? []
  if (amount === undefined) return undefined
  const unit = Object.keys(units)[found.findIndex((one) => one !== undefined)] ?? 'ms'
  return Number(amount) * units[unit]!
}
