import { nearest, type OptionPlace } from '../../kernel/index.ts'

/**
 * Reads further members of the options of a package. It has many, and a later version of it others, so only a name that is close to a
 * known one is refused.
 */
export const foreignOption =
  (known: readonly string[]) =>
  (name: string, given: unknown, place: OptionPlace): unknown =>
    known.includes(name) || nearest(name, known) === undefined ? given : place.unknown(name, known)
