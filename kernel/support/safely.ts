/** Returns the result of a function, or `otherwise` if it throws: for values from outside, and for code whose failure must not matter. */
export function safely<Result, Other = undefined>(work: () => Result, otherwise = undefined as Other): Result | Other {
  try {
    return work()
  } catch {
    return otherwise
  }
}
