import { nearest, type OptionPlace } from '../../kernel/index.ts'

/** Shorter names are often close to each other without a mistake. */
const shortest = 4

/**
 * Reads further members of the options of a package. It has many, and a later version of it has others, so only a name that is close to a
 * known one is refused.
 */
export function foreignOption(known: readonly string[]) {
  const long = known.filter((name) => name.length >= shortest)
  return (name: string, given: unknown, place: OptionPlace): unknown => {
    if (known.includes(name) || name.length < shortest || nearest(name, long) === undefined) return given
    return place.unknown(name, known)
  }
}
