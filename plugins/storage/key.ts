import { encodeExactly } from '../shared/http/sent-file.ts'
import { objectPrefix, reachesTenants } from '../shared/values/tenants.ts'
import { StorageKeyError } from './errors.ts'

/** The limit of S3 for a key. */
const maxBytes = 1024

/** An error that names the mistake and carries the key for its handler. */
export const keyError = (key: unknown, why: string, cause?: unknown): Error =>
  Object.assign(StorageKeyError(why), { key }, cause === undefined ? {} : { cause })

/**
 * Refuses a key that one of the providers could not store, or would confuse with another: keys that fail in production then
 * also fail in tests.
 */
export function checkKey(key: unknown): asserts key is string {
  const why = whyUnusable(key)
  if (why !== undefined) throw keyError(key, why)
}

/** Application-wide work does not reach the objects of tenants, also on a disk that does not distinguish upper and lower case. */
export function checkReach(key: string): void {
  if (reachesTenants(key)) throw keyError(key, 'not begin with "_tenants/": use withTenant({ id }, …)')
}

/** The key of the running tenant's object as the provider has it. */
export function providerKey(key: unknown): string {
  checkKey(key)
  checkReach(key)
  const full = `${objectPrefix()}${key}`
  if (full !== key) checkKey(full)
  return full
}

/** A prefix is the beginning of a key; it may end anywhere, and be empty. */
export function checkPrefix(prefix: unknown): asserts prefix is string {
  if (prefix === '') return
  // It may end anywhere: with a letter appended, it must be a valid key.
  const why = typeof prefix === 'string' ? whyUnusable(`${prefix}x`) : 'be text'
  if (why !== undefined) throw keyError(prefix, why)
}

function whyUnusable(key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return 'be a non-empty string'
  if (key.length > maxBytes || Buffer.byteLength(key) > maxBytes) return `have at most ${maxBytes} bytes`
  if (key.startsWith('/')) return 'not begin with "/"'
  // Backslashes lead out of the root on Windows; line breaks can forge XML lists and request headers.
  if (key.includes('\\')) return 'have "/" between its segments, not a backslash'
  // The last two are invalid in XML: a single such key makes it impossible to list the bucket.
  if (/[\p{Cc}\ufffe\uffff]/u.test(key)) return 'have no control characters, and neither U+FFFE nor U+FFFF'
  if (key !== Buffer.from(key, 'utf8').toString('utf8')) return 'be well-formed Unicode'
  // Two spellings of one name are two objects in a bucket and one file on many disks.
  if (key !== key.normalize('NFC')) return 'be in the Unicode form NFC, which key.normalize("NFC") returns'
  const segments = key.split('/')
  if (segments.includes('')) return 'have no empty segment: no "//", and no "/" at its end'
  // HTTP clients resolve dot segments before they send a path, which would then be the key of another object.
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'have no segment "." or ".."'
  return undefined
}

/** The last segment of a key: the name of its file. */
export const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1)

/** Encodes a key for the path of an address, keeping its slashes. */
export const encodeKey = (key: string): string => key.split('/').map(encodeExactly).join('/')
