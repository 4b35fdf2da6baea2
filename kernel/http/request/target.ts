import { safely } from '../../support/safely.ts'

/** A request target in its one canonical form. */
export interface Target {
  /** The path, without dot segments, fragment and query; percent-encoded, each path in one spelling. */
  path: string
  /** The path with the original escapes. */
  sent: string
  /** The query without its question mark; `''` without a query. */
  query: string
  /** What the router matches: `path` with every escape decoded but those of `%`, `/`, `?` and `#`. */
  match: string
}

// 1: a path with this character needs the slow way; 2: so does a query. All other characters are passed on as they are.
const special = new Uint8Array(128)
for (let code = 0; code <= 0x20; code++) special[code] = 2
for (const char of '"<>#\x7f') special[char.charCodeAt(0)] = 2
for (const char of '`{}\\^|') special[char.charCodeAt(0)] = 1
for (const char of "'") special[char.charCodeAt(0)] = 3

/** The absolute form of a target and its authority (RFC 9112 section 3.2.2). */
export const absoluteForm: RegExp = /^https?:\/\/([^/?#\\]*)/i

const SLASH = 47
const DOT = 46
const PERCENT = 37
const QUESTION = 63

/**
 * Converts a request target into the one form that router, middlewares, log and cache share, or `undefined` when it is
 * malformed: when it has a bad escape or NUL, or cannot be a URL.
 *
 * The rules are those of the URL standard, since Bun and Deno apply them before the framework sees the request: dot
 * segments (also `%2e`) are resolved, a backslash is a slash, a fragment is cut off. Guards are bypassed when two components
 * read one path in two ways.
 */
export function parseTarget(target: string): Target | undefined {
  if (target.charCodeAt(0) !== SLASH) {
    // The request is routed by the path; the authority is for `hostFor`.
    const authority = absoluteForm.exec(target)
    if (authority === null) return undefined
    const rest = target.slice(authority[0].length)
    return parseTarget(/^[/\\]/.test(rest) ? `/${rest.slice(1)}` : `/${rest}`)
  }
  let question = -1
  let escaped = false
  const length = target.length
  for (let i = 1; i < length; i++) {
    const code = target.charCodeAt(i)
    if (code === QUESTION) {
      question = i
      break
    }
    if (code > 126 || special[code]! === 1 || special[code]! === 2) return parseSlowly(target)
    if (code === DOT && target.charCodeAt(i - 1) === SLASH) return parseSlowly(target)
    if (code === PERCENT) {
      escaped = true
      // %2e and %2E are dots in the URL standard.
      if (target.charCodeAt(i + 1) === 50 && (target.charCodeAt(i + 2) | 32) === 101) return parseSlowly(target)
    }
  }
  for (let i = question === -1 ? length : question + 1; i < length; i++) {
    const code = target.charCodeAt(i)
    if (code > 126 || special[code]! >= 2) return parseSlowly(target)
  }
  const path = question === -1 ? target : target.slice(0, question)
  const query = question === -1 ? '' : target.slice(question + 1)
  return escaped ? decoded(path, query) : { path, sent: path, query, match: path }
}

function decoded(sent: string, query: string): Target | undefined {
  const match = decodePath(sent)
  return match === undefined ? undefined : { path: encodePath(match), sent, query, match }
}

function parseSlowly(target: string): Target | undefined {
  // The URL parser silently drops some of these characters; over a socket they never arrive here.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x1f\x7f]/.test(target)) return undefined
  const url = safely(() => new URL(`http://h${target}`))
  if (url === undefined) return undefined
  // `^` has been in the encode set of paths only since 2024: Bun and newer versions of Node.js encode it, Node.js 20 does not.
  const path = url.pathname.replaceAll('^', '%5E')
  return decoded(path, url.search.slice(1))
}

/** Decodes once, keeping the escapes whose characters would change the structure of the path. */
export function decodePath(path: string): string | undefined {
  const kept = path.replace(/%(2[35Ff]|3[Ff])/g, (_, hex: string) => `%25${hex.toUpperCase()}`)
  const decoded = safely(() => decodeURIComponent(kept))
  return decoded?.includes('\0') ? undefined : decoded
}

/** Characters that must be escaped in a path according to the URL standard, and the backslash, which it reads as a slash. */
const encoded = /[\0-\x20"<>\\^`{}\x7f-\uffff]+/g

/**
 * The one spelling of a decoded path: only characters that must be escaped are escaped, in upper case. Two paths are equal in
 * this form exactly when the router reads the same path, and no character in it could end a line or a header.
 */
function encodePath(match: string): string {
  return match.replace(encoded, encodeURIComponent)
}
