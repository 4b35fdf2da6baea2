import { censored, isSecret } from '../toolkit/censor.ts'
import { describeError } from '../toolkit/logger.ts'

/** Characters of one text that is shown, and of one within data. */
const maxText = 64 * 1024
const maxMemberText = 8 * 1024

/** How deep data is looked at, and how many members of it in all: a line of the log may name an object on which the whole server hangs. */
interface Bounds {
  readonly depth: number
  readonly members: number
}
const ofData: Bounds = { depth: 6, members: 1_000 }
const ofBody: Bounds = { depth: 100, members: 20_000 }

// What looks like the value of a secret in a text that is not read further: a form, a header, JSON that is broken.
const secretInText =
  /((?:"|\b)[\w.-]{0,64}(?:passw(?:or)?d|secret|token|(?:api|private)[-_]?key|authorization|cookie)"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,;&}]+(?:\s+[\w.~+/=-]+)?)/gi
const secretInTags = /(<[\w.:-]{0,64}(?:passw(?:or)?d|secret|token|(?:api|private)[-_]?key)(?:\s[^<>]{0,200})?>)[^<]+/gi

/** Makes what is recorded safe to show, by the rules of the log and names of the application. */
export class Redactor {
  readonly #names: ReadonlySet<string>
  readonly #paths: readonly (readonly string[])[]

  /** `paths`: as the log redacts them, `user.email` for example. */
  constructor(names: readonly string[], paths: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
    this.#paths = paths.map((path) => path.split('.'))
  }

  isSecret(name: string): boolean {
    // Forms write members in brackets: user[password].
    const plain = name.replace(/\]+$/, '')
    return isSecret(plain) || this.#names.has(plain.toLowerCase())
  }

  headers(headers: { readonly [name: string]: unknown }): Record<string, unknown> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.header(name, value)]))
  }

  header<Value>(name: string, value: Value): Value | string {
    if (this.isSecret(name)) return censored
    // Addresses have parameters.
    return typeof value === 'string' && /^(?:location|content-location|referer|link)$/.test(name)
      ? this.target(value)
      : value
  }

  /** Path and query, with the values of secret parameters left out. */
  target(target: string): string {
    const at = target.indexOf('?')
    if (at === -1) return target
    return `${target.slice(0, at)}?${this.#form(target.slice(at + 1))}`
  }

  #form(text: string): string {
    return text
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=')
        if (at === -1) return pair
        const name = pair.slice(0, at)
        return this.isSecret(decoded(name)) ? `${name}=${censored}` : pair
      })
      .join('&')
  }

  /** Data as data. A body, which is bounded by its bytes, may have more members than what code hands over. */
  value(value: unknown, bounds: Bounds = ofData): unknown {
    try {
      return this.#byPath(this.#copied(value, bounds.depth, { left: bounds.members }), this.#paths)
    } catch {
      return '[cannot be read]'
    }
  }

  /** A copy that holds nothing of the application, of what JSON has a form for, without secrets. */
  #copied(value: unknown, depth: number, room: { left: number }): unknown {
    if (typeof value === 'string') return value.length > maxMemberText ? `${value.slice(0, maxMemberText)}…` : value
    if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
    if (typeof value === 'function') return `[function ${value.name}]`
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return this.#copied(describeError(value, false), depth, room)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function' && depth > 0) return this.#copied(toJSON.call(value), depth - 1, room)
    if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}'
    if (Array.isArray(value)) {
      const copy: unknown[] = []
      for (const one of value) {
        if (--room.left < 0) return [...copy, '…']
        copy.push(this.#copied(one, depth - 1, room))
      }
      return copy
    }
    const entries: [string, unknown][] = []
    for (const name of Object.keys(value)) {
      if (--room.left < 0) {
        entries.push(['…', '…'])
        break
      }
      const member = (value as Record<string, unknown>)[name]
      const isHidden = this.isSecret(name) && member !== undefined && member !== null
      entries.push([name, isHidden ? censored : this.#copied(member, depth - 1, room)])
    }
    return Object.fromEntries(entries)
  }

  #byPath(value: unknown, paths: readonly (readonly string[])[]): unknown {
    if (paths.length === 0 || typeof value !== 'object' || value === null) return value
    const step = (name: string, one: unknown): unknown => {
      const here = paths.filter(([first]) => first === name || first === '*')
      if (here.some(({ length }) => length === 1)) return censored
      return this.#byPath(
        one,
        here.map((path) => path.slice(1)),
      )
    }
    if (Array.isArray(value)) return value.map((one, i) => step(String(i), one))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, step(name, one)]))
  }

  /** The text of a body of this type; `undefined` where it is not text. */
  body(bytes: Uint8Array, type: string | undefined): string | undefined {
    const kind = (type ?? '').split(';')[0]!.trim().toLowerCase()
    if (kind.startsWith('multipart/') || !isText(kind, bytes)) return undefined
    const text = new TextDecoder().decode(bytes)
    if (kind === 'application/x-www-form-urlencoded') return this.#form(text)
    if (/[/+]json$/.test(kind) || kind === '') {
      try {
        return JSON.stringify(this.value(JSON.parse(text), ofBody), null, 2)
      } catch {
        // Broken, or cut: what is there is shown all the same.
      }
    }
    return this.text(text)
  }

  text(text: string): string {
    const short = text.length > maxText ? `${text.slice(0, maxText)}…` : text
    return short.replace(secretInText, `$1${censored}`).replace(secretInTags, `$1${censored}`)
  }

  error(error: unknown): unknown {
    return this.value(describeError(error, false))
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function isText(kind: string, bytes: Uint8Array): boolean {
  if (/^text\/|[/+](?:json|xml|x-www-form-urlencoded|javascript|x-ndjson|graphql(?:-response\+json)?|yaml)$/.test(kind))
    return true
  if (kind !== '') return false
  return !bytes.subarray(0, 512).some((byte) => byte < 9 || (byte > 13 && byte < 32))
}
