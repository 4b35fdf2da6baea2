/**
 * Turns a key pattern into a test: `*` matches any run of characters, `?` any single one, any other character itself. It is compared
 * with the part of the key before `#`, which has the form `cache:<METHOD>:<path>?<query>`.
 */
export function globTest(pattern: string): (key: string) => boolean {
  // No regular expressions: `*a*a*a*…` would make one backtrack for minutes.
  const parts = pattern.split('*')
  return (key) => {
    const end = key.indexOf('#')
    return matches(parts, end === -1 ? key : key.slice(0, end))
  }
}

function fits(part: string, text: string, at: number): boolean {
  if (at < 0 || at + part.length > text.length) return false
  for (let i = 0; i < part.length; i++) if (part[i] !== '?' && part[i] !== text[at + i]) return false
  return true
}

function matches(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts
  if (rest.length === 0) return first.length === text.length && fits(first, text, 0)
  if (!fits(first, text, 0)) return false
  const last = rest.pop()!
  let at = first.length
  for (const part of rest) {
    while (!fits(part, text, at)) if (++at > text.length) return false
    at += part.length
  }
  return text.length - last.length >= at && fits(last, text, text.length - last.length)
}

/** Returns the same pattern for Redis, whose patterns also have brackets and escapes; every key there has a `#` part. */
export function redisGlob(prefix: string, pattern: string): string {
  const literal = (text: string) => text.replace(/[[\]\\^]/g, '\\$&')
  return `${literal(prefix).replace(/[*?]/g, '\\$&')}${literal(pattern)}#*`
}

/** Whether a name in Redis is the key of a response or of data: a pattern such as `*` matches those of other programs as well. */
export const isOwnKey = (name: string): boolean => /^(?:cache|data):/.test(name)
