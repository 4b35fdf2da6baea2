import { freeName } from '../../plugins/shared/schema/names.ts'

/** Turns `foo-bar`, `foo_bar` and `Foo bar` into `fooBar`. Letters of every alphabet stay, with their marks. */
export function camel(name: string): string {
  const words = name.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  let joined = ''
  for (const word of words) {
    const digits = /\d$/.test(joined) && /^\d/.test(word)
    joined += joined === '' ? word.charAt(0).toLowerCase() + word.slice(1) : (digits ? '_' : '') + capitalized(word)
  }
  return /^[\p{L}]/u.test(joined) ? joined : `_${joined}`
}

/** The same with an initial capital, and in ASCII only: for names of types, which cannot be quoted. */
export function pascal(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/[^\x20-\x7e]+/g, '')
  const joined = capitalized(camel(ascii))
  return joined === '_' ? 'Unnamed' : joined
}

export const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Claims the name, or the first of `name2`, `name3`, … that is free. */
export function claim(wanted: string, taken: Set<string>): string {
  const name = freeName(wanted, (one) => taken.has(one))
  taken.add(name)
  return name
}

/**
 * Assigns a different name to each key. A key that equals its name keeps it, so that `/fooBar` is `fooBar` whether or not
 * there is a `/foo-bar`.
 */
export function assign(
  keys: Iterable<string>,
  nameOf: (key: string) => string,
  taken: Set<string>,
  isOwn = (key: string) => nameOf(key) === key,
): Map<string, string> {
  const sorted = [...keys].sort()
  const inTurn = [...sorted.filter(isOwn), ...sorted.filter((key) => !isOwn(key))]
  return new Map(inTurn.map((key) => [key, claim(nameOf(key), taken)]))
}
