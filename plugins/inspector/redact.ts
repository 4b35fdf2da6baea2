import { mediaTypeOf } from '../shared/http/media-type.ts'
import { describeError } from '../shared/logging/logger.ts'
import type { Marks } from '../shared/schema/marks.ts'
import { hideInText, isMarkedName } from '../shared/values/marked.ts'
import { isSecret, isSecretElement, isSecretMember, redacted, redactPath } from '../shared/values/redact.ts'
import { cutText, redactText } from '../shared/values/redact-text.ts'
import { safely } from '../shared/values/safely.ts'

/** Maximum characters of one text that is shown, and of one string within data. */
const maxText = 64 * 1024
const maxMemberText = 8 * 1024

/** How deep data is read, and how many of its members in total: a log line may contain an object that refers to the whole server. */
interface Bounds {
  readonly depth: number
  readonly members: number
}
const ofData: Bounds = { depth: 6, members: 1_000 }
const ofBody: Bounds = { depth: 100, members: 20_000 }

/** Makes recorded data safe to show, with the rules of the log and the names that the application adds. */
export class Redactor {
  readonly #names: ReadonlySet<string>

  /** `paths` have the form of the log's option `redact`: of `user.email`, the name `email` counts. */
  constructor(names: readonly string[], paths: readonly string[]) {
    this.#names = new Set([...names, ...paths.map(nameIn)].map((name) => name.toLowerCase()))
  }

  /** Whether the application has data under this name that is not shown. */
  readonly isSecret = (name: string): boolean => this.#isKnown(name) || isMarkedName(lastName(name))

  /** The same without the names that schemas mark: the framework has data of its own under some of them. */
  readonly #isKnown = (name: string): boolean => {
    const plain = lastName(name)
    return isSecret(name) || isSecret(plain) || this.#names.has(plain.toLowerCase())
  }

  /** Values are hidden first: a part of one, at the place of the cut, would stay. */
  text(text: string, most = maxText, isHidden = this.#isKnown): string {
    return redactText(cutText(hideInText(text), most), isHidden)
  }

  headers(headers: { readonly [name: string]: unknown }): [string, unknown][] {
    return Object.entries(headers).map(([name, value]) => [name, this.header(name, value)])
  }

  header<Value>(name: string, value: Value): Value | string {
    if (this.isSecret(name)) return redacted
    if (typeof value !== 'string') return this.value(value) as Value
    // These headers contain addresses, which have parameters.
    return this.text(/^(?:location|content-location|referer|link)$/.test(name) ? this.target(value) : value)
  }

  /** Returns path and query without the values of secret parameters, and without `hidden`, the secret values of the path. */
  target(target: string, hidden: readonly string[] = []): string {
    const at = target.indexOf('?')
    const path = redactPath(at === -1 ? target : target.slice(0, at), hidden)
    return this.text(at === -1 ? path : `${path}?${this.#form(target.slice(at + 1))}`)
  }

  #form(text: string): string {
    return text
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=')
        const name = at === -1 ? '' : pair.slice(0, at)
        if (this.isSecret(decoded(name))) return `${name}=${redacted}`
        // Values may contain return addresses, JSON or GraphQL documents, whose escapes hide what is in them.
        const value = decoded(pair.slice(at + 1))
        const safe = this.text(value)
        return safe === value ? pair : `${pair.slice(0, at + 1)}${safe}`
      })
      .join('&')
  }

  /**
   * Returns data without secrets. A body, whose bytes are limited, may have more members than data passed by code. If the framework has named
   * the members of the object itself, they are not compared with those that schemas mark.
   */
  value(value: unknown, bounds: Bounds = ofData, isOwn = false): unknown {
    return safely(() => this.#copied(value, bounds.depth, { left: bounds.members }, isOwn), '[cannot be read]')
  }

  /** The same for an object of the framework. */
  own(value: unknown): Record<string, unknown> {
    return this.value(value, ofData, true) as Record<string, unknown>
  }

  /** Returns a copy without secrets, of what JSON can express; it refers to no object of the application. */
  #copied(value: unknown, depth: number, room: { left: number }, isOwn = false): unknown {
    if (typeof value === 'string') return this.text(value, maxMemberText)
    if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
    if (typeof value === 'function') return `[function ${value.name}]`
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return this.#copied(describeError(value, false), depth, room, true)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function' && depth > 0) return this.#copied(toJSON.call(value), depth - 1, room)
    if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}'
    if (Array.isArray(value)) {
      const copy: unknown[] = []
      for (const [i, one] of value.entries()) {
        if (--room.left < 0) return [...copy, '…']
        copy.push(isSecretElement(value, i) ? redacted : this.#copied(one, depth - 1, room))
      }
      return copy
    }
    const isSecret = isOwn ? this.#isKnown : this.isSecret
    const entries: [string, unknown][] = []
    for (const name of Object.keys(value)) {
      if (--room.left < 0) {
        entries.push(['…', '…'])
        break
      }
      const member = (value as Record<string, unknown>)[name]
      const isHidden = isSecretMember(value, name, isSecret) && member !== undefined && member !== null
      entries.push([name, isHidden ? redacted : this.#copied(member, depth - 1, room)])
    }
    return Object.fromEntries(entries)
  }

  /** Returns the text of a body with this media type and these marks of its schemas; `undefined` if it is not text. */
  body(bytes: Uint8Array, type: string | undefined, marks: readonly Marks[] = []): string | undefined {
    const kind = mediaTypeOf(type)
    if (kind.startsWith('multipart/') || !isText(kind, bytes)) return undefined
    const text = new TextDecoder().decode(bytes)
    // The text is UTF-16, for example, in which the name of a secret would not be found.
    if (text.includes('\0')) return undefined
    // Some clients send JSON with the type of a form, which is the default of their library.
    const isForm = kind === 'application/x-www-form-urlencoded'
    if (isForm && !/^\s*[[{]/.test(text)) return this.#form(text)
    if (isForm || /[/+]json$/.test(kind) || kind === '') {
      try {
        const data = marks.reduce((one, { hide }) => hide(one), JSON.parse(text) as unknown)
        return JSON.stringify(this.value(data, ofBody), null, 2)
      } catch {
        // The JSON is broken, or was cut: what there is of it is shown nevertheless.
      }
    }
    // What has no name cannot be found in text.
    if (marks.some(({ hasNameless }) => hasNameless)) return redacted
    return this.text(text, maxText, this.isSecret)
  }
}

/** Forms put the names of members in brackets, and the indexes of lists: user[password], passwords[0]. */
function lastName(name: string): string {
  const plain = name.slice(-128).replace(/[[\]\d]+$/, '')
  return plain.split('[').pop() ?? plain
}

/** The last name in a path in pino's syntax: `users[*].email`, `["x-key"].id`. */
function nameIn(path: string): string {
  const steps = path.matchAll(/\[(?:(["'`])(.*?)\1|([^\]]*))\]|[^.[\]]+/g)
  return Array.from(steps, ([all, , quoted, plain]) => quoted ?? plain ?? all).findLast((step) => step !== '*') ?? ''
}

/** Returns data without these values anywhere in its strings: the log line about a failure, for example, contains the path. */
export function without<Data>(data: Data, values: readonly string[]): Data {
  if (values.length === 0) return data
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return values.reduce((text, value) => text.replaceAll(value, redacted), one)
    if (Array.isArray(one)) return one.map(clean)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, clean(member)]))
  }
  // The result has the same form as the data, with other strings.
  return clean(data) as Data
}

const decoded = (text: string): string => safely(() => decodeURIComponent(text.replaceAll('+', ' ')), text)

function isText(kind: string, bytes: Uint8Array): boolean {
  if (/^text\/|[/+](?:json|xml|x-www-form-urlencoded|javascript|x-ndjson|graphql(?:-response\+json)?|yaml)$/.test(kind))
    return true
  if (kind !== '') return false
  return !bytes.subarray(0, 512).some((byte) => byte < 9 || (byte > 13 && byte < 32))
}
