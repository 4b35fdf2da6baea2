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
