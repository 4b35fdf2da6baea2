import { isOptions, optionNames } from '../../../kernel/index.ts'

/** The options of a call that passes one of them as its first argument and the others after it. */
export function joinedOptions(name: string, first: unknown, rest: unknown): unknown {
  if (rest === undefined) return { [name]: first }
  // The check refuses a value that is not an object.
  if (!isOptions(rest)) return rest
  // Including inherited ones, which a spread would leave out.
  const given = optionNames(rest).map((one) => [one, Reflect.get(rest, one) as unknown])
  return { ...Object.fromEntries(given), [name]: first }
}
