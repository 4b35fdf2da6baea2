import { mediaTypeOf } from '../shared/http/media-type.ts'
import { isObject } from '../shared/values/json.ts'
import { redacted } from '../shared/values/redact.ts'
import { safely } from '../shared/values/safely.ts'
import type { Activity } from './activities.ts'
import { decoded } from './bodies.ts'
import type { CapturedRequest, Recorder } from './recorder.ts'
import type { Redactor } from './redact.ts'

/** A request as a form shows it, which a person changes before it is sent again. */
export interface Edit {
  readonly method: string
  readonly target: string
  /** One `name: value` in each line. */
  readonly headers: string
  /** The text of the body; `undefined` for one that is not text, or none: it is sent as it was. */
  readonly body?: string | undefined
}

/** Headers that belong to a connection, or to the body, which is created anew. */
export const dropped = /^(?:connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer)$/

/** Returns what the form shows of a request: redacted, as everything on the page. */
export async function editOf(recorder: Recorder, activity: Activity, kept: CapturedRequest): Promise<Edit> {
  const { redactor } = recorder
  const { headers, hasBody, received } = kept
  const [type, coding] = [headers['content-type'], headers['content-encoding']]
  const lines = Object.entries(redactor.headers(headers)).filter(([name]) => !dropped.test(name))
  const body = hasBody
    ? redactor.body(await decoded(received.bytes(), coding), type, recorder.marksOf(activity).request)
    : ''
  const target = String(activity.data.target)
  return { method: kept.method, target, headers: lines.map(([name, value]) => `${name}: ${value}`).join('\n'), body }
}

type Sent = Pick<CapturedRequest, 'method' | 'target' | 'headers'> & { readonly body: Uint8Array | undefined }

/**
 * Returns what a changed form sends. A part that is unchanged (the path, a parameter, a header, a member of JSON) has its real value again;
 * a changed one is sent as it is. So a redacted value never leaves its place: under another name, the page would show it.
 */
export async function edited(redactor: Redactor, kept: CapturedRequest, shown: Edit, given: Edit): Promise<Sent> {
  const { method, target } = given
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(method)) throw new Error(`the method is a word such as POST, not "${method}"`)
  if (!/^\/[^\s\p{Cc}#]*$/u.test(target)) throw new Error('the path begins with "/" and has no spaces: encode them')
  const headers: Record<string, string> = {}
  for (const line of given.headers.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`a header is "name: value", not "${line}"`)
    const key = name.toLowerCase()
    const real = kept.headers[key] ?? ''
    headers[key] = value === String(redactor.header(key, real)).trim() ? real : whole(value, `the header ${key}`)
  }
  const sent = { method: method.toUpperCase(), target: targetOf(kept.target, shown.target, target), headers }
  if (given.body === undefined || given.body === shown.body)
    return { ...sent, body: kept.hasBody ? kept.received.bytes() : undefined }
  const text = new TextDecoder().decode(await decoded(kept.received.bytes(), kept.headers['content-encoding']))
  const isForm = mediaTypeOf(kept.headers['content-type']) === 'application/x-www-form-urlencoded'
  // The new body has no coding.
  delete headers['content-encoding']
  return {
    ...sent,
    body: given.body === '' ? undefined : Buffer.from(bodyOf(text, shown.body ?? '', given.body, isForm)),
  }
}

/** Refuses a changed value in which something is still redacted or cut. */
function whole(value: string, what: string): string {
  if (!value.includes(redacted)) return value
  throw new Error(`${what} has changed and contains ${redacted}: write the value, or leave all of it as it was`)
}

function targetOf(real: string, shown: string, given: string): string {
  if (given === shown) return real
  const [[from, fromQuery], [as, asQuery], [to, toQuery]] = [real, shown, given].map((one) => one.split(/\?(.*)/s)) as [
    string[],
    string[],
    string[],
  ]
  const path = to === as ? from! : whole(to!, 'the path')
  return toQuery === undefined ? path : `${path}?${pairsOf(fromQuery ?? '', asQuery ?? '', toQuery)}`
}

function pairsOf(real: string, shown: string, given: string): string {
  const [from, as] = [real.split('&'), shown.split('&')]
  return given
    .split('&')
    .map((pair) => from[as.indexOf(pair)] ?? whole(pair, 'a parameter'))
    .join('&')
}

function bodyOf(real: string, shown: string, given: string, isForm: boolean): string {
  const [from, as, to] = [real, shown, given].map((text) => safely(() => JSON.parse(text) as unknown))
  // What was shown as it is, is sent as it was written: numbers keep their digits.
  if (shown === real || (from !== undefined && shown === JSON.stringify(from, null, 2))) return whole(given, 'the body')
  if (isObject(to)) return JSON.stringify(restored(to, as, from))
  if (isForm && from === undefined) return pairsOf(real, shown, given)
  throw new Error('the body was shown redacted or cut, so it cannot be changed: leave it as it was')
}

/** Puts real values in the place of unchanged ones. Not within lists, whose elements may have moved. */
function restored(given: unknown, shown: unknown, real: unknown): unknown {
  const text = JSON.stringify(given)
  if (text === JSON.stringify(shown)) return real
  if (!isObject(given) || !isObject(shown) || !isObject(real)) {
    whole(text, 'a value in the body')
    return given
  }
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, restored(one, member(shown, name), member(real, name))]),
  )
}

const member = (of: object, name: string): unknown => (Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined)
