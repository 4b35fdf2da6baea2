import { safely } from '../shared/values/safely.ts'

const windows = process.platform === 'win32'
/** A stream or a drive (`:`), a wildcard, or a name whose last characters Windows drops. */
const strangeOnWindows = /[<>:"|?*]|[. ]$/

/**
 * The decoded segments of a percent-encoded path, the last one empty if it ends with a slash; `undefined` for a path that
 * no file can have.
 *
 * Decoded once, segment by segment, so that an escaped slash is not a separator: a router that keeps it and a file server that
 * decodes it see two paths, and a guard applies to only one of them (@fastify/static CVE-2026-6414, hono CVE-2026-29087). Empty
 * segments are refused for the same reason (hono CVE-2026-39407): `//a` and `/a` differ for the router, but not for the disk.
 */
export function segmentsOf(path: string): string[] | undefined {
  const parts = path.split('/')
  if (parts[0] !== '') return undefined
  const segments: string[] = []
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i]!
    const segment = part.includes('%') ? safely(() => decodeURIComponent(part)) : part
    if (segment === undefined || (segment === '' && i < parts.length - 1) || !isName(segment)) return undefined
    segments.push(segment)
  }
  return segments
}

function isName(segment: string): boolean {
  if (segment === '.' || segment === '..' || /[/\\\0]/.test(segment)) return false
  return !windows || !strangeOnWindows.test(segment)
}

/** The segments after the prefix, empty for the prefix itself; `undefined` if the path is not below it. */
export function below(prefix: readonly string[], segments: readonly string[]): string[] | undefined {
  if (prefix.some((one, i) => one !== segments[i])) return undefined
  return segments.slice(prefix.length)
}

/**
 * Whether the real path of a file is another spelling of the requested one; both are absolute.
 *
 * On a disk that ignores case or normalises characters, `/ADMIN` would be a different path from `/admin` for
 * every guard, but the same file.
 */
export function isOtherSpelling(asked: string, real: string): boolean {
  return real !== asked && fold(real) === fold(asked)
}

function fold(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
