import { isObject, type Json } from './json.ts'
import { safely } from './safely.ts'

// A ticket may be among the sub-protocols.
const exactly = new Set(['cookies', 'signedcookies', 'sec-websocket-protocol'])
// Forms ask for a new password twice.
const ending =
  /(?:passw(?:or)?d(?:[-_]?(?:confirm(?:ation|ed)?|repeat(?:ed)?|again|2))?|secret|token|(?:api|private)[-_ ]?key|passphrase|authorization|cookie)$/
export const redacted = '[redacted]'

export type Params = { readonly [name: string]: string | undefined }

/** The values of parameters whose name is that of a secret, as in `/reset/:token`. */
export function secretsOf(params: Params, isHidden: (name: string) => boolean = isSecret): readonly string[] {
  const hidden: string[] = []
  for (const name in params) {
    const value = params[name]
    // A schema may have made a number of it.
    if (value !== undefined && value !== '' && isHidden(name)) hidden.push(String(value))
  }
  return hidden
}

/** A path without these values of its parameters. */
export function redactPath(path: string, hidden: readonly string[]): string {
  if (hidden.length === 0) return path
  const holds = (segment: string) => hidden.some((value) => segment.includes(value) || decoded(segment).includes(value))
  return path
    .split('/')
    .map((segment) => (holds(segment) ? redacted : segment))
    .join('/')
}

const decoded = (text: string): string => safely(() => decodeURIComponent(text), text)

// Names are repeated from entry to entry; names in bodies come from clients, so the memory is bounded.
const decided = new Map<string, boolean>()

/** Whether the value with this name must not be shown: credentials in headers, and names that end in `password`, `token` or `secret`. */
export function isSecretName(key: string): boolean {
  const name = key.slice(-64).toLowerCase()
  return exactly.has(name) || ending.test(name)
}

/** The same for names that are read again and again. */
export function isSecret(key: string): boolean {
  let secret = decided.get(key)
  if (secret === undefined) {
    secret = isSecretName(key)
    if (decided.size < 2_000) decided.set(key, secret)
  }
  return secret
}

/** Whether a member is secret by its own name, or is the value of `{ name: 'password', value: … }`. */
export function isSecretMember(of: object, key: string, isHidden: (name: string) => boolean = isSecret): boolean {
  if (key !== 'value') return isHidden(key)
  const { name } = of as { readonly name?: unknown }
  return typeof name === 'string' && isHidden(name)
}

/** Whether an element of a list comes after the name of a header with credentials, as in `rawHeaders` of Node.js. */
export function isSecretElement(list: readonly unknown[], i: number): boolean {
  const before = list[i - 1]
  return (
    typeof before === 'string' &&
    /^(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|sec-websocket-protocol)$/i.test(before)
  )
}

/** The depth of a value that is searched whole, and the levels, and members of each, that are left of one that is deeper or has a cycle. */
const maxDepth = 200
const maxLevels = 6
const maxMembers = 100
/** What stands for a value that throws when it is read. */
export const unreadable = '[unreadable]'

/** The objects around the present one. It is kept between calls: a list for each would be garbage of each log line. */
const around: object[] = []

/**
 * What JSON writes of a value, without the values whose name is that of a secret; the value itself is not changed.
 *
 * It goes by names and not by pino's paths: those need a wildcard for every level, and 24 wildcards cost 20 to 47 µs per line. Without cycles,
 * pino writes all levels and members, so all are searched. Where one throws or there is a cycle, only what has been copied is written.
 */
export function redact(value: unknown): unknown {
  const outside = around.length
  try {
    return shownOf(value)
  } catch {
    around.length = outside
    return shownOf(readable(value))
  } finally {
    around.length = outside
  }
}

function shownOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (around.length === maxDepth || around.includes(value)) throw new RangeError('too deep, or within itself')
  around.push(value)
  const written = writtenOf(value)
  const shown = Array.isArray(written) ? redactList(written) : isObject(written) ? redactMembers(written) : written
  around.pop()
  return shown
}

/**
 * What JSON writes in place of an object; dates stay, which have no members. Nothing of a stream: a request of `node:http`, which is a
 * member of many errors, and its socket have the head that was sent as one string, with all credentials.
 */
function writtenOf(value: object): unknown {
  const { toJSON, pipe } = value as { toJSON?: unknown; pipe?: unknown }
  if (typeof toJSON !== 'function')
    return typeof pipe === 'function' && typeof (value as { on?: unknown }).on === 'function' ? '[stream]' : value
  if (value instanceof Date) return value
  const made: unknown = toJSON.call(value, '')
  // JSON would not call that of the result.
  return isObject(made) && 'toJSON' in made ? { ...made, toJSON: undefined } : made
}

function redactMembers(value: Json): Json {
  let copy: Json | undefined
  for (const key of Object.keys(value)) {
    const member = value[key]
    const isHidden = isSecretMember(value, key) && member !== undefined && member !== null
    const shown = isHidden ? redacted : shownOf(member)
    if (shown === member) continue
    copy ??= { ...value }
    copy[key] = shown
  }
  return copy ?? value
}

function redactList(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const shown = isSecretElement(list, i) ? redacted : shownOf(list[i])
    if (shown === list[i]) continue
    copy ??= [...list]
    copy[i] = shown
  }
  return copy ?? list
}

/** A copy of the first levels of a value, whatever it is. */
function readable(value: unknown, within: readonly object[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (within.includes(value)) return '[Circular]'
  if (within.length === maxLevels) return '[Object]'
  const copied = (one: unknown) => readable(one, [...within, value])
  return safely(() => {
    const written = writtenOf(value)
    if (Array.isArray(written)) return written.slice(0, maxMembers).map(copied)
    if (!isObject(written) || written instanceof Date || ArrayBuffer.isView(written)) return written
    const names = Object.keys(written).slice(0, maxMembers)
    return Object.fromEntries(names.map((name) => [name, safely(() => copied(written[name]), unreadable)]))
  }, unreadable)
}
