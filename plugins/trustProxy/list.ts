/** How many entries of a list are read, from its end; a chain of proxies is never that long. */
export const maxHops = 64

/**
 * The members of a comma-separated header from the right, where the nearest proxy appends; empty members do not count.
 *
 * Read backwards by hand: `split(/\s*,\s*\/)` takes seconds for 100 kB of spaces.
 */
export function* fromRight(list: string | undefined): Generator<string> {
  if (list === undefined) return
  let end = list.length
  for (let seen = 0; seen < maxHops && end > 0; seen++) {
    const comma = list.lastIndexOf(',', end - 1)
    const member = list.slice(comma + 1, end).trim()
    if (member !== '') yield member
    end = comma
  }
}

/** The member written by the proxy that is `hops` steps away; if there are fewer members, the farthest one. */
export function memberAt(list: string | undefined, hops: number): string | undefined {
  let found: string | undefined
  let at = 0
  for (const member of fromRight(list)) {
    found = member
    if (++at === hops) break
  }
  return found
}
