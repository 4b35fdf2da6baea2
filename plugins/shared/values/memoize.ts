/** The value under a key of a map, made when it is first needed. */
export function madeIn<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: (key: Key) => Value,
): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make(key)
  map.set(key, made)
  return made
}

/** The same for a value that arrives later: it is made once for all concurrent callers. After a failure, the next caller makes it again. */
export function memoizedIn<Key, Value>(
  map: Map<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  // The map may have been cleared in the meantime, and have another value.
  made.catch(() => map.get(key) === made && map.delete(key))
  return made
}

/** The same for a single thing. */
export class Memoized<Value> {
  readonly #make: () => Promise<Value>
  readonly #made = new Map<'it', Promise<Value>>()

  constructor(make: () => Promise<Value>) {
    this.#make = make
  }

  get(): Promise<Value> {
    return memoizedIn(this.#made, 'it', this.#make)
  }

  /** The value, if it was made or is being made. */
  get made(): Promise<Value> | undefined {
    return this.#made.get('it')
  }

  /** Returns the value, if it was made, and forgets it. */
  release(): Promise<Value> | undefined {
    const made = this.#made.get('it')
    this.#made.clear()
    return made
  }
}

/** Makes a function whose concurrent calls share one result. A call after it has settled makes it again. */
export function sharing<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined
  return () => {
    pending ??= make().finally(() => {
      pending = undefined
    })
    return pending
  }
}
