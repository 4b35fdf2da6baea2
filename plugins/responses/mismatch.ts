/** Thrown where a value does not match its schema. Not an Error: in `anyOf` it only means the next schema, and a stack costs time. */
export class Mismatch {
  /** Keys from the outside in, collected while it passes up. */
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

/** Adds a key to a passing mismatch; any other error, of a getter for example, is rethrown unchanged. */
export function passing(thrown: unknown, key: string | number): unknown {
  if (thrown instanceof Mismatch) thrown.path.unshift(key)
  return thrown
}
