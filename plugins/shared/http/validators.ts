import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import type { Request } from '../../../kernel/index.ts'

/** The validators of the state that a response represents. */
export interface Validators {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
}

export type Conditions = Pick<Request['headers'], string>

/** The tag of a body, made from its bytes: the same bytes have the same tag in every process. */
export function entityTag(body: string | Uint8Array): string {
  const hash = createHash('sha1').update(body).digest('base64url').slice(0, 27)
  return `"${Buffer.byteLength(body).toString(16)}-${hash}"`
}

/** The validators of a file. Its tag is weak: two states of the same size within one millisecond have the same tag. */
export const fileValidators = ({ size, mtime }: Pick<Stats, 'size' | 'mtime'>) => ({
  etag: `W/"${size.toString(16)}-${mtime.getTime().toString(16)}"`,
  lastModified: mtime.toUTCString(),
})

/**
 * The result of the conditions of a request (RFC 9110 section 13.2.2): of a GET or a HEAD, or of a PUT that replaces the state. `state` is
 * missing where there is none yet.
 *
 * `Cache-Control: no-cache` requires a response from the origin, and this is the origin. `fetch` adds it to every condition.
 */
export function judgeConditions(headers: Conditions, state: Validators | undefined, isPut = false): 200 | 304 | 412 {
  const match = headers['if-match']
  const isMet =
    match !== undefined
      ? names(match, state, isPut)
      : !(timeOf(state?.lastModified) > timeOf(headers['if-unmodified-since']))
  if (!isMet) return 412
  if (isPut) return names(headers['if-none-match'], state) ? 412 : 200
  return state !== undefined && isKnown(headers, state) ? 304 : 200
}

/** Whether the client already has this state. */
export function isKnown(headers: Conditions, state: Validators): boolean {
  const noneMatch = headers['if-none-match']
  if (noneMatch !== undefined) return names(noneMatch, state)
  const since = headers['if-modified-since']
  return since !== undefined && timeOf(state.lastModified) <= timeOf(since)
}

/**
 * Whether a list names a state. Weak tags are compared like strong ones, as those of files are weak; not where a client replaces what it has
 * read: a state with the same weak tag may be another one.
 */
function names(list: string | undefined, state: Validators | undefined, isStrong = false): boolean {
  if (list === undefined || state === undefined) return false
  if (list.trim() === '*') return true
  const { etag } = state
  if (etag === undefined || (isStrong && etag.startsWith('W/'))) return false
  const plain = (tag: string) => (isStrong ? tag : tag.replace(/^W\//, ''))
  return list.split(',').some((one) => plain(one.trim()) === plain(etag))
}

const imfOr850 = /^[A-Z][a-z]{2,8}, .+ GMT$/
/** A date without a zone, which means GMT: `Date.parse` would read it as the time of this machine. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/**
 * The time of an HTTP date (RFC 9110 section 5.6.7). NaN for an invalid one: comparisons with it fail, so its condition is ignored. A year of
 * two digits is one from 1950 to 2049, where the standard has at most 50 years from now: clients repeat dates of responses, which are past.
 */
function timeOf(date: string | undefined): number {
  if (date === undefined) return Number.NaN
  if (imfOr850.test(date)) return Date.parse(date)
  return asctime.test(date) ? Date.parse(`${date} GMT`) : Number.NaN
}
