/** The options of a call that takes one of them as its first argument, and the others behind it. */
export function joinedOptions(name: string, first: unknown, rest: unknown): unknown {
  if (rest === undefined) return { [name]: first }
  // What is no object is for the check to refuse.
  return typeof rest === 'object' && rest !== null && !Array.isArray(rest) ? { ...rest, [name]: first } : rest
}
