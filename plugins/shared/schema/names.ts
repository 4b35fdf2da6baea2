import { safely } from '../values/safely.ts'

/** A name of letters, digits, dots, dashes and underscores, the only characters allowed in the name of an OpenAPI component. */
export function plainName(text: string): string {
  const name = text
    // Cut first: on a long string, the trimming below would take quadratic time at its end.
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[_.-]+|[_.-]+$/g, '')
    .slice(0, 80)
  return name === '' ? 'Schema' : name
}

/** A name that is free: the wanted one, or the first of `name2`, `name3`, … */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let number = 2; isTaken(name); number++) name = `${wanted}${number}`
  return name
}

/** Whether a name is a number that TypeBox or Zod gives to a schema without a name. */
const isNumber = (name: string) => /^(T|__schema)\d+$/.test(name)

/** The name of a schema with this `$id`: the last part of the address without its ending. */
export function nameOfAddress(id: string): string | undefined {
  const last = id
    .replace(/[#?].*$/, '')
    .split(/[/:]/)
    .findLast((part) => part !== '')
  const name = last?.replace(/(\.schema)?\.(json|ya?ml)$/i, '')
  return name === undefined || name === '' || isNumber(name) ? undefined : name
}

/** The name of a reference's target: the last name in it that is not a keyword. */
export function nameOfReference(ref: string): string | undefined {
  const [address = '', pointer = ''] = ref.split('#', 2)
  const parts = pointer.split('/').filter((part) => part !== '' && !/^(\d+|items|additionalProperties)$/.test(part))
  const last = parts.at(-1)
  if (last === undefined) return nameOfAddress(address)
  if (isNumber(last)) return undefined
  return pointed(last)
}

/** The name that a part of a JSON pointer in an address stands for. */
export const pointed = (part: string): string =>
  safely(() => decodeURIComponent(part), part)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
