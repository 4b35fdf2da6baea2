export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  if (sorted.length === 0) return Number.NaN
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]!
  const high = sorted[Math.ceil(at)]!
  return low + (high - low) * (at - Math.floor(at))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The distance between the quartiles, relative to the median: 0.05 means that half of the values lie within 5 %. */
export function spread(values: readonly number[]): number {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)
}

/** Divides the reference by the own value, round by round, so a disturbance of a whole round cancels out. Above 1 means cheaper. */
export function pairedRatio(own: readonly number[], reference: readonly number[]): number {
  return median(own.map((value, round) => reference[round]! / value))
}

/** A copy in random order, so that no subject always runs after the same neighbour. */
export function shuffled<T>(items: readonly T[]): T[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[copy[i], copy[j]] = [copy[j]!, copy[i]!]
  }
  return copy
}
