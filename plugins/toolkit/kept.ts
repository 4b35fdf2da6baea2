/**
 * What a map has under a key, made when it is first asked for and once for all who ask meanwhile. What fails is made anew for who
 * asks next.
 */
export function keptIn<Key, Value>(
  map: Map<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  // The map may have been cleared meanwhile, and have another one.
  made.catch(() => map.get(key) === made && map.delete(key))
  return made
}

/** The same for a single thing. */
export class Kept<Value> {
  readonly #make: () => Promise<Value>
  readonly #made = new Map<'it', Promise<Value>>()

  constructor(make: () => Promise<Value>) {
    this.#make = make
  }

  get(): Promise<Value> {
    return keptIn(this.#made, 'it', this.#make)
  }

  /** Gives what was made, if anything was, and forgets it. */
  release(): Promise<Value> | undefined {
    const made = this.#made.get('it')
    this.#made.clear()
    return made
  }
}
