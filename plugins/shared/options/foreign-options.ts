import { nearest, type OptionPlace } from '../../../kernel/index.ts'

/** Names shorter than this are often close to each other without being a mistake. */
const shortest = 4

/**
 * Reads further members of a package's options. The package has many options, and later versions have others, so only a name that is
 * close to a known one is refused.
 */
export function foreignOption(known: readonly string[]) {
  const long = known.filter((name) => name.length >= shortest)
  return (name: string, given: unknown, place: OptionPlace): unknown => {
    if (known.includes(name) || name.length < shortest || nearest(name, long) === undefined) return given
    return place.unknown(name, known)
  }
}
