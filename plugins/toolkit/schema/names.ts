/** Letters, digits, dot, dash and underscore: all that the name of a component of OpenAPI may have. */
export function plainName(text: string): string {
  const name = text
    // Cut off first: from the end of a long text the trimming below would search again and again.
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[_.-]+|[_.-]+$/g, '')
    .slice(0, 80)
  return name === '' ? 'Schema' : name
}

/** The numbers that TypeBox and Zod give to schemas that no one named. */
const isNumber = (name: string) => /^(T|__schema)\d+$/.test(name)

/** What a schema with this `$id` is called: its last part without the ending. */
export function nameOfAddress(id: string): string | undefined {
  const last = id
    .replace(/[#?].*$/, '')
    .split(/[/:]/)
    .findLast((part) => part !== '')
  const name = last?.replace(/(\.schema)?\.(json|ya?ml)$/i, '')
  return name === undefined || name === '' || isNumber(name) ? undefined : name
}

/** What the target of a reference is called: the last name in it that is not a keyword. */
export function nameOfReference(ref: string): string | undefined {
  const [address = '', pointer = ''] = ref.split('#', 2)
  const parts = pointer.split('/').filter((part) => part !== '' && !/^(\d+|items|additionalProperties)$/.test(part))
  const last = parts.at(-1)
  if (last === undefined) return nameOfAddress(address)
  if (isNumber(last)) return undefined
  try {
    return decodeURIComponent(last).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return last
  }
}
