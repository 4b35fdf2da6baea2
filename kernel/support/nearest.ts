/** The number of edits that turn one name into the other (Levenshtein), on lower-case text. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}

/**
 * The known name that a misspelt one was most likely meant to be, or `undefined` when none is close.
 *
 * @example
 * nearest('timout', ['timeout', 'retries']) // 'timeout'
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.ceil(name.length / 3)) + 1
  for (const candidate of known) {
    // The distance is at least the difference in length. Each start asks for the members of all plugins.
    if (Math.abs(candidate.length - name.length) >= least) continue
    const edits = distance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < least) [least, best] = [edits, candidate]
  }
  return best
}

/**
 * The guess that a message about an unknown name continues with, or `''` when no known name is close.
 *
 * @example
 * didYouMean('timout', ['timeout', 'retries']) // ' Did you mean "timeout"?'
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`
}
