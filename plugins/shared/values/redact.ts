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

/** The depth and width to which an entry is checked: pino writes 5 levels and 100 members of each. */
const maxDepth = 6
const maxMembers = 100

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

/**
 * Replaces values whose name is that of a secret, at any depth that is written, without changing the entry itself.
 *
 * It goes by names and not by pino's paths: those need a wildcard for every level, and 24 wildcards cost 20 to 47 µs per line. What is written
 * whole needs another depth and number of members of each list.
 */
export function redact(value: unknown, depth = maxDepth, members = maxMembers): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) return redactList(value, depth, members)
  // Objects with `toJSON`, and errors, which have a serialiser of their own.
  if (value instanceof Error || typeof (value as { toJSON?: unknown }).toJSON === 'function') return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    const shown =
      isSecretMember(value, key) && member !== undefined && member !== null
        ? redacted
        : redact(member, depth - 1, members)
    if (shown === member) continue
    copy ??= { ...value }
    copy[key] = shown
  }
  return copy ?? value
}

function redactList(list: readonly unknown[], depth: number, members: number): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length && i < members; i++) {
    const shown = isSecretElement(list, i) ? redacted : redact(list[i], depth - 1, members)
    if (shown === list[i]) continue
    copy ??= [...list]
    copy[i] = shown
  }
  return copy ?? list
}
