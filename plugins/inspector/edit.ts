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
  const lines = redactor.headers(headers).filter(([name]) => !dropped.test(name))
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
export async function edited(
  recorder: Recorder,
  activity: Activity,
  kept: CapturedRequest,
  given: Edit,
): Promise<Sent> {
  const { redactor } = recorder
  const shown = await editOf(recorder, activity, kept)
  const { method } = given
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(method)) throw new Error(`the method is a word such as POST, not "${method}"`)
  const headers = headersOf(redactor, kept.headers, given.headers)
  const target = targetOf(redactor, kept.target, shown.target, given.target)
  const coding = kept.headers['content-encoding']
  const isSame = given.body === undefined || given.body === shown.body
  const text = new TextDecoder().decode(await decoded(kept.received.bytes(), coding))
  const plain = [text, safely(() => JSON.stringify(JSON.parse(text), null, 2))]
  const isOpen = shown.body !== undefined && plain.includes(shown.body)
  // The new body has no coding.
  if (!isSame) delete headers['content-encoding']
  const body = isSame ? kept.received.bytes() : Buffer.from(bodyOf(text, shown.body ?? '', given.body!, isOpen))
  const type = headers['content-type']
  // The schemas of another route mark other members.
  const isElsewhere = method !== kept.method || partsOf(target).path !== partsOf(kept.target).path
  const marks = isElsewhere ? [] : recorder.marksOf(activity).request
  const isMoved =
    !isSame || isElsewhere || type !== kept.headers['content-type'] || headers['content-encoding'] !== coding
  // By its type, and by names beside it, a body is shown: with others, what was redacted may not be.
  if (isMoved && !isOpen) {
    const wanted = isSame ? shown.body : given.body
    const safe = wanted === undefined ? undefined : redactor.body(Buffer.from(wanted), type, marks)
    if (redactor.body(await decoded(body, headers['content-encoding']), type, marks) !== safe)
      throw new Error(
        'the page would show what is redacted in the body: write the whole body, or leave its type and names',
      )
  }
  return { method, target, headers, body: isSame && !kept.hasBody ? undefined : body }
}

function headersOf(redactor: Redactor, real: CapturedRequest['headers'], given: string): Record<string, string> {
  const headers = new Map<string, string>()
  for (const line of given.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', value] = /^([\w!#$%&'*+.^`|~-]+):\s*([\t\P{Cc}]*?)\s*$/u.exec(line) ?? []
    if (value === undefined) throw new Error(`a header is "name: value", not "${line}"`)
    const key = name.toLowerCase()
    if (dropped.test(key)) throw new Error(`the header ${key} is made anew with each request: leave it out`)
    if (headers.has(key)) throw new Error(`the header ${key} is there twice: write its values in one line`)
    const before = Object.hasOwn(real, key) ? real[key]! : undefined
    const isSame = before !== undefined && value === redactor.header(key, before).trim()
    headers.set(key, isSame ? before : whole(value, `the header ${key}`))
  }
  return Object.fromEntries(headers)
}

/** Refuses a changed value in which something is still redacted. */
function whole(value: string, what: string): string {
  if (!value.includes(redacted)) return value
  throw new Error(`${what} has changed and contains ${redacted}: write the value, or leave all of it as it was`)
}

function partsOf(target: string) {
  const [path = '', ...query] = target.split('?')
  return { path, query: query.join('?') }
}

function targetOf(redactor: Redactor, real: string, shown: string, given: string): string {
  if (given === shown) return real
  const [from, as, to] = [partsOf(real), partsOf(shown), partsOf(given)]
  const path = to.path === as.path ? from.path : whole(to.path, 'the path')
  const query = to.query && `?${fieldsOf(from.query, as.query, to.query)}`
  if (redactor.target(query) !== redactor.target(to.query && `?${to.query}`)) throw whyCut()
  if (/^\/[^\s\p{Cc}#]*$/u.test(path + query)) return path + query
  throw new Error('the path begins with "/" and has no spaces: encode them')
}

/** Puts real fields of a query or a form in the place of unchanged ones. */
function fieldsOf(real: string, shown: string, given: string): string {
  const [from, as, to] = [real, shown, given].map((one) => one.split('&')) as [string[], string[], string[]]
  // A field may have been cut, or redacted with its separator.
  if (from.length !== as.length) throw whyCut()
  return to
    .map((field) => {
      const at = as.indexOf(field)
      if (at < 0) return whole(field, 'a field')
      // Each once: those of a password and of its repetition look the same.
      as[at] = '&'
      return from[at]
    })
    .join('&')
}

const whyCut = () => new Error('this was shown redacted or cut, so it cannot be changed: leave it as it was')

function bodyOf(real: string, shown: string, given: string, isOpen: boolean): string {
  const [from, as, to] = [real, shown, given].map((text) => safely(() => JSON.parse(text) as unknown))
  // What was shown as it is, is sent as it was written: numbers keep their digits.
  if (isOpen) return whole(given, 'the body')
  if (isObject(to) && isObject(from)) return JSON.stringify(restored(to, as, from))
  return from === undefined ? fieldsOf(real, shown, given) : whole(given, 'the body, which is not a JSON object,')
}

/** Puts real values in the place of unchanged ones. Not within lists, whose elements may have moved. */
function restored(given: unknown, shown: unknown, real: unknown): unknown {
  const text = JSON.stringify(given)
  if (text === JSON.stringify(shown)) {
    // The mark of members that were left out.
    if (real === undefined) throw whyCut()
    return real
  }
  if (!isObject(given) || !isObject(shown) || !isObject(real)) {
    whole(text, 'a value in the body')
    return given
  }
  const member = (of: object, name: string): unknown => (Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined)
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, restored(one, member(shown, name), member(real, name))]),
  )
}
