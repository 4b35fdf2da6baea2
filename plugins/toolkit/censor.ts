const exactly = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'passphrase'])
const ending = /(?:passw(?:or)?d|secret|token|(?:api|private)[-_]?key)$/
export const censored = '[redacted]'

/** The depth and width to which an entry is checked: pino writes 5 levels and 100 members of each. */
const maxDepth = 6
const maxMembers = 100

// Names repeat from entry to entry; those of bodies come from clients, so the memory is bounded.
const decided = new Map<string, boolean>()

/** Whether the value of this name must not be shown: credentials in headers, and names that end in `password`, `token` or `secret`. */
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
 * By name and not by pino's paths: those need a wildcard for every level, and 24 wildcards cost 20 to 47 µs a line.
 */
export function censor(value: unknown, depth = maxDepth): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) return censorList(value, depth)
  // Objects with `toJSON`, and errors, which have a serialiser.
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
