/** A request target in its one canonical form. */
export interface Target {
  /** The path, percent-encoded as it came, without dot segments, fragment and query. */
  path: string
  /** The query without its question mark, `''` when there is none. */
  query: string
  /** What the router matches: `path` with every escape decoded but those of `%`, `/`, `?` and `#`. */
  match: string
}

// 1: needs the slow way when it stands in a path, 2: also when it stands in a query. The rest is passed as it is.
const special = new Uint8Array(128)
for (let code = 0; code <= 0x20; code++) special[code] = 2
for (const char of '"<>#\x7f') special[char.charCodeAt(0)] = 2
for (const char of '`{}\\^|') special[char.charCodeAt(0)] = 1
for (const char of "'") special[char.charCodeAt(0)] = 3

const SLASH = 47
const DOT = 46
const PERCENT = 37
const QUESTION = 63

/**
 * Brings a request target into the one form that router, middlewares, log and cache share, or `undefined` when it is
 * malformed: a bad escape, NUL, or nothing that a URL could be.
 *
 * The rules are those of the URL standard, since Bun and Deno apply them before the framework sees the request: dot
 * segments (`%2e` too) are resolved, a backslash is a slash, a fragment is cut. Two components that read one path in
 * two ways is how guards get bypassed.
 */
export function parseTarget(target: string): Target | undefined {
  if (target.charCodeAt(0) !== SLASH) {
    // Absolute form (RFC 9112 section 3.2.2): route on the path, the host is that of the Host header.
    const authority = /^https?:\/\/[^/?#\\]*/i.exec(target)
    if (authority === null) return undefined
    const rest = target.slice(authority[0].length)
    return parseTarget(/^[/\\]/.test(rest) ? `/${rest.slice(1)}` : `/${rest}`)
  }
  let question = -1
  let escaped = false
  let slow = false
  const length = target.length
  for (let i = 1; i < length; i++) {
    const code = target.charCodeAt(i)
    if (code === QUESTION) {
      question = i
      break
    }
    if (code > 126 || special[code]! === 1 || special[code]! === 2) slow = true
    else if (code === DOT) {
      if (target.charCodeAt(i - 1) === SLASH) slow = true
    } else if (code === PERCENT) {
      escaped = true
      // %2e and %2E are dots for the URL standard.
      if (target.charCodeAt(i + 1) === 50 && (target.charCodeAt(i + 2) | 32) === 101) slow = true
    }
  }
  if (question !== -1) {
    for (let i = question + 1; i < length; i++) {
      const code = target.charCodeAt(i)
      if (code > 126 || special[code]! >= 2) {
        slow = true
        break
      }
    }
  }
  if (slow) return parseSlowly(target)
  const path = question === -1 ? target : target.slice(0, question)
  const query = question === -1 ? '' : target.slice(question + 1)
  if (!escaped) return { path, query, match: path }
  const match = decodePath(path)
  return match === undefined ? undefined : { path, query, match }
}

function parseSlowly(target: string): Target | undefined {
  // The URL parser drops some of them in silence; on a socket they never get here.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x1f\x7f]/.test(target)) return undefined
  let url: URL
  try {
    url = new URL(`http://h${target}`)
  } catch {
    return undefined
  }
  // Part of the path's encode set only since 2024: Bun and newer Nodes encode it, Node 20 does not.
  const path = url.pathname.replaceAll('^', '%5E')
  const match = path.includes('%') ? decodePath(path) : path
  return match === undefined ? undefined : { path, query: url.search.slice(1), match }
}

/** Decodes once, keeping the escapes whose characters would change the structure of the path. */
export function decodePath(path: string): string | undefined {
  let decoded: string
  try {
    decoded = decodeURIComponent(path.replace(/%(2[35Ff]|3[Ff])/g, (_, hex: string) => `%25${hex.toUpperCase()}`))
  } catch {
    return undefined
  }
  return decoded.includes('\0') ? undefined : decoded
}
