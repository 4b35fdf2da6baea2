import { isOptions, optionNames } from '../../kernel/index.ts'

/** The options of a call that takes one of them as its first argument, and the others after it. */
export function joinedOptions(name: string, first: unknown, rest: unknown): unknown {
  if (rest === undefined) return { [name]: first }
  // The check refuses what is not an object.
  if (!isOptions(rest)) return rest
  // Those that are inherited, too: spread, they would be left out.
  const given = optionNames(rest).map((one) => [one, Reflect.get(rest, one) as unknown])
  return { ...Object.fromEntries(given), [name]: first }
}
