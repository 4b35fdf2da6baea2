import { isOptions, optionNames } from '../../kernel/index.ts'

/** The options of a call with one of them as its first argument, and the others after it. */
export function joinedOptions(name: string, first: unknown, rest: unknown): unknown {
  if (rest === undefined) return { [name]: first }
  // The check refuses a value that is not an object.
  if (!isOptions(rest)) return rest
  // Inherited ones, too: a spread would leave them out.
  const given = optionNames(rest).map((one) => [one, Reflect.get(rest, one) as unknown])
  return { ...Object.fromEntries(given), [name]: first }
}
