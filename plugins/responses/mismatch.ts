/** Thrown where a value is not what its schema says. No Error: in `anyOf` it only means the next one, and a stack costs. */
export class Mismatch {
  /** Keys from the outside in, put together while it is on its way out. */
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

/** Adds a key to a mismatch that passes by; anything else, an error of a getter for example, goes on as it is. */
export function passing(thrown: unknown, key: string | number): unknown {
  if (thrown instanceof Mismatch) thrown.path.unshift(key)
  return thrown
}
