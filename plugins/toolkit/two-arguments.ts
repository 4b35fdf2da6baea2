/** The options of a call that takes one of them as its first argument, and the others after it. */
export function joinedOptions(name: string, first: unknown, rest: unknown): unknown {
  if (rest === undefined) return { [name]: first }
  // The check refuses what is not an object.
  return typeof rest === 'object' && rest !== null && !Array.isArray(rest) ? { ...rest, [name]: first } : rest
}
