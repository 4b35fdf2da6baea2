const exactly = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'passphrase'])
// Forms ask for a new password twice.
const ending =
  /(?:passw(?:or)?d(?:[-_]?(?:confirm(?:ation|ed)?|repeat(?:ed)?|again|2))?|secret|token|(?:api|private)[-_]?key)$/
export const censored = '[redacted]'

// What looks like the value of a secret in text: in a form, a header, invalid JSON, a literal in a query.
const named =
  /((?:"|\b)[\w.-]{0,64}(?:passw(?:or)?d(?:[-_]?(?:confirm(?:ation|ed)?|repeat(?:ed)?|again|2))?|secret|token|(?:api|private)[-_]?key|authorization|cookie)"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,;&}]+(?:\s+[\w.~+/=-]+)?)/gi
const inTags = /(<[\w.:-]{0,64}(?:passw(?:or)?d|secret|token|(?:api|private)[-_]?key)(?:\s[^<>]{0,200})?>)[^<]+/gi
// Drivers include the address of their server, with the password in it, in the messages of their errors.
const inAddresses = /(\b[a-z][a-z\d+.-]{0,30}:\/\/)[^\s/?#"'<>]*@/gi
const bearers = /(\bbearer\s+)[\w.~+/-]{16,}=*/gi
// Bounded: each `eyJ` in a long string may begin one.
const webTokens = /\beyJ[\w-]{8,2000}\.[\w-]{8,}\.[\w-]*/g

/** Text without what looks like a secret: values after the name of one, credentials in addresses, bearer and JSON web tokens. */
export function censorText(text: string): string {
  return text
    .replace(named, `$1${censored}`)
    .replace(inTags, `$1${censored}`)
    .replace(inAddresses, `$1${censored}@`)
    .replace(bearers, `$1${censored}`)
    .replace(webTokens, censored)
}

type Params = { readonly [name: string]: string | undefined }

/** The values of parameters whose name is that of a secret, as in `/reset/:token`. */
export function secretsOf(params: Params, isHidden: (name: string) => boolean = isSecret): readonly string[] {
  const hidden: string[] = []
  for (const name in params) {
    const value = params[name]
    if (value !== undefined && value !== '' && isHidden(name)) hidden.push(value)
  }
  return hidden
}

/** A path without these values of its parameters. */
export function censorPath(path: string, hidden: readonly string[]): string {
  if (hidden.length === 0) return path
  const holds = (segment: string) => hidden.some((value) => segment.includes(value) || decoded(segment).includes(value))
  return path
    .split('/')
    .map((segment) => (holds(segment) ? censored : segment))
    .join('/')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The depth and width to which an entry is checked: pino writes 5 levels and 100 members of each. */
const maxDepth = 6
const maxMembers = 100

// Names are repeated from entry to entry; names in bodies come from clients, so the memory is bounded.
const decided = new Map<string, boolean>()

/** Whether the value with this name must not be shown: credentials in headers, and names that end in `password`, `token` or `secret`. */
export function isSecret(key: string): boolean {
  let secret = decided.get(key)
  if (secret === undefined) {
    const name = key.slice(-64).toLowerCase()
    secret = exactly.has(name) || ending.test(name)
    if (decided.size < 2_000) decided.set(key, secret)
  }
  return secret
}

/**
 * Replaces values whose name is that of a secret, at any depth that is written, without changing the entry itself.
 *
 * It goes by names and not by pino's paths: those need a wildcard for every level, and 24 wildcards cost 20 to 47 µs per line.
 */
export function censor(value: unknown, depth = maxDepth): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) return censorList(value, depth)
  // Objects with `toJSON`, and errors, which have a serialiser of their own.
  if (value instanceof Error || typeof (value as { toJSON?: unknown }).toJSON === 'function') return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    const shown = isSecret(key) && member !== undefined && member !== null ? censored : censor(member, depth - 1)
    if (shown === member) continue
    copy ??= { ...value }
    copy[key] = shown
  }
  return copy ?? value
}

function censorList(list: readonly unknown[], depth: number): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length && i < maxMembers; i++) {
    const shown = censor(list[i], depth - 1)
    if (shown === list[i]) continue
    copy ??= [...list]
    copy[i] = shown
  }
  return copy ?? list
}
