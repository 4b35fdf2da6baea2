/** `foo-bar`, `foo_bar` and `Foo bar` are `fooBar`. Letters of every alphabet stay, with what belongs to them. */
export function camel(name: string): string {
  const words = name.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  let joined = ''
  for (const word of words) {
    const digits = /\d$/.test(joined) && /^\d/.test(word)
    joined += joined === '' ? word.charAt(0).toLowerCase() + word.slice(1) : (digits ? '_' : '') + capitalized(word)
  }
  return /^[\p{L}]/u.test(joined) ? joined : `_${joined}`
}

/** The same with a capital, and ASCII alone: for names of types, which cannot be quoted. */
export function pascal(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/[^\x20-\x7e]+/g, '')
  const joined = capitalized(camel(ascii))
  return joined === '_' ? 'Unnamed' : joined
}

export const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** The name, or the first of `name2`, `name3`, … that is free; taken from then on. */
export function claim(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let n = 2; taken.has(name); n++) name = `${wanted}${n}`
  taken.add(name)
  return name
}

/**
 * A different name for each key. A key that equals its name keeps it, so that `/fooBar` is `fooBar` whether or not
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
