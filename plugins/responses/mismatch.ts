import { madeIn } from '../shared/values/memoize.ts'

/** Thrown where a value does not match its schema. Not an Error: in `anyOf` it only means trying the next one, and a stack costs time. */
export class Mismatch {
  /** The keys from the outside in, collected while the mismatch passes up. */
  readonly path: (string | number)[]
  readonly expected: string

  constructor(expected: string, path: readonly (string | number)[] = []) {
    this.expected = expected
    this.path = [...path]
  }

  get message(): string {
    const pointer = this.path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    return `${pointer === '' ? 'the body' : pointer} ${this.expected}`
  }
}

export function fail(expected: string): never {
  throw new Mismatch(expected)
}

/** Adds a key to a mismatch that passes up; any other error, such as that of a getter, is rethrown unchanged. */
export function passing(thrown: unknown, key: string | number): unknown {
  if (thrown instanceof Mismatch) thrown.path.unshift(key)
  return thrown
}

/** The result of a part of a schema for a value: the picked members, or why the value does not match. */
type Outcome = { readonly picked: unknown } | { readonly expected: string; readonly path: readonly (string | number)[] }

/** The earlier results for the current value. */
let known: Map<unknown, Map<object, Outcome>> | undefined

/** Runs a function with a cache of its own, unless there already is one. */
export function remembering<Result>(run: () => Result): Result {
  if (known !== undefined) return run()
  known = new Map()
  try {
    return run()
  } finally {
    known = undefined
  }
}

/**
 * Makes a check run only once for each object and list. For branches within branches: without it, a tree whose nodes are of several
 * kinds would be checked twice as often for each further level.
 */
export function once(shape: (value: unknown) => unknown): (value: unknown) => unknown {
  const look = (value: object): unknown => {
    const outcomes = madeIn(known!, shape, () => new Map<object, Outcome>())
    const there = outcomes.get(value)
    if (there !== undefined) {
      if ('picked' in there) return there.picked
      throw new Mismatch(there.expected, there.path)
    }
    try {
      const picked = shape(value)
      outcomes.set(value, { picked })
      return picked
    } catch (error) {
      if (error instanceof Mismatch) outcomes.set(value, { expected: error.expected, path: [...error.path] })
      throw error
    }
  }
  return (value) => {
    if (typeof value !== 'object' || value === null) return shape(value)
    return known === undefined ? remembering(() => look(value)) : look(value)
  }
}
