import { Mismatch } from './mismatch.ts'

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
    let outcomes = known!.get(shape)
    if (outcomes === undefined) {
      outcomes = new Map()
      known!.set(shape, outcomes)
    }
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
