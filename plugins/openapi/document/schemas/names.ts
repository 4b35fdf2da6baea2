/** Letters, digits, dot, dash and underscore: all that the name of a component may have. */
export function componentName(text: string): string {
  const name = text
    // Cut off first: from the end of a long text the trimming below would search again and again.
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[_.-]+|[_.-]+$/g, '')
    .slice(0, 80)
  return name === '' ? 'Schema' : name
}

/** What a schema with this `$id` is called: its last part without the ending. The numbers that TypeBox gives are no names. */
export function nameOfAddress(id: string): string | undefined {
  const last = id
    .replace(/[#?].*$/, '')
    .split(/[/:]/)
    .findLast((part) => part !== '')
  const name = last?.replace(/(\.schema)?\.(json|ya?ml)$/i, '')
  return name === undefined || name === '' || /^T\d+$/.test(name) ? undefined : name
}

/** What the target of a reference is called: the last name in it that is no keyword. */
export function nameOfReference(ref: string): string | undefined {
  const [address = '', pointer = ''] = ref.split('#', 2)
  const parts = pointer.split('/').filter((part) => part !== '' && !/^(\d+|items|additionalProperties)$/.test(part))
  const last = parts.at(-1)
  if (last === undefined) return nameOfAddress(address)
  try {
    return decodeURIComponent(last).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return last
  }
}

/** Gives every name once: a taken one gets a number. */
export class Names {
  readonly #taken: Set<string>

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken)
  }

  claim(wanted: string, suffix = ''): string {
    let name = this.#taken.has(wanted) ? wanted + suffix : wanted
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted}${suffix}${number}`
    this.#taken.add(name)
    return name
  }
}
