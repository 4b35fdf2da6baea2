import { defineError } from '../support/errors.ts'

export const HeaderNameError = defineError(
  'HeaderNameError',
  500,
  (name: string) =>
    `${JSON.stringify(name)} is no header name: letters, digits and !#$%&'*+-.^_\`|~ only (RFC 9110 section 5.1)`,
)
export const HeaderValueError = defineError(
  'HeaderValueError',
  500,
  (name: string, why: string) =>
    `the value of the header "${name}" ${why}. Encode it, with encodeURIComponent for example`,
)

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const known = new Map<string, string>()

/** The lower-case form of a header name, checked once per spelling. */
function normalizeName(name: string): string {
  const normalized = known.get(name)
  if (normalized !== undefined) return normalized
  if (typeof name !== 'string' || !token.test(name)) throw HeaderNameError(String(name))
  const lower = name.toLowerCase()
  // Names may be made from input; the memory must not grow with it.
  if (known.size < 500) known.set(name, lower)
  return lower
}

/** CR or LF would start a header of the attacker's choice, NUL and characters above U+00FF would be cut or mangled. */
function checkValue(name: string, value: string): string {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 32 ? code !== 9 : code === 127 || code > 255) {
      throw HeaderValueError(name, code > 255 ? 'has a character above U+00FF' : 'has a control character')
    }
  }
  return value
}

export type HeaderValue = string | number | readonly string[]

/** Response headers: names in lower case, in the order of setting. */
export class HeaderBag {
  #names: string[] = []
  #values: (string | readonly string[])[] = []

  get(name: string): string | readonly string[] | undefined {
    const index = this.#names.indexOf(normalizeName(name))
    return index === -1 ? undefined : this.#values[index]
  }

  set(name: string, value: HeaderValue): void {
    const key = normalizeName(name)
    const checked =
      typeof value === 'string'
        ? checkValue(key, value)
        : Array.isArray(value)
          ? value.map((one) => checkValue(key, String(one)))
          : checkValue(key, String(value))
    const index = this.#names.indexOf(key)
    if (index === -1) {
      this.#names.push(key)
      this.#values.push(checked)
    } else this.#values[index] = checked
  }

  /** Adds to what is there: a further `set-cookie` line, a further member of a list for every other name. */
  append(name: string, value: string): void {
    const key = normalizeName(name)
    const there = this.get(key)
    if (there === undefined) this.set(key, key === 'set-cookie' ? [value] : value)
    else if (key === 'set-cookie') this.set(key, [...(typeof there === 'string' ? [there] : there), value])
    else this.set(key, `${typeof there === 'string' ? there : there.join(', ')}, ${value}`)
  }

  remove(name: string): void {
    const index = this.#names.indexOf(normalizeName(name))
    if (index === -1) return
    this.#names.splice(index, 1)
    this.#values.splice(index, 1)
  }

  /** A copy for reading: name → value. */
  toObject(): Record<string, string | readonly string[]> {
    const object: Record<string, string | readonly string[]> = Object.create(null)
    for (let i = 0; i < this.#names.length; i++) object[this.#names[i]!] = this.#values[i]!
    return object
  }

  /** Flat `[name, value, …]`, a list of values as repeated names. */
  flatten(): string[] {
    const flat: string[] = []
    for (let i = 0; i < this.#names.length; i++) {
      const value = this.#values[i]!
      if (typeof value === 'string') flat.push(this.#names[i]!, value)
      else for (const one of value) flat.push(this.#names[i]!, one)
    }
    return flat
  }
}
