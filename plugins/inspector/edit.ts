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
  const { method } = given
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(method)) throw new Error(`the method is a word such as POST, not "${method}"`)
  if (!/^\/[^\s\p{Cc}#]*$/u.test(given.target))
    throw new Error('the path begins with "/" and has no spaces: encode them')
  const headers: Record<string, string> = {}
  for (const line of given.headers.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (value === undefined) throw new Error(`a header is "name: value", not "${line}"`)
    const key = name.toLowerCase()
    const real = kept.headers[key] ?? ''
    headers[key] = value === redactor.header(key, real).trim() ? real : whole(value, `the header ${key}`)
  }
  const target = partsOf(kept.target, shown.target, given.target)
  if (given.body === undefined || given.body === shown.body)
    return { method, target, headers, body: kept.hasBody ? kept.received.bytes() : undefined }
  const text = new TextDecoder().decode(await decoded(kept.received.bytes(), kept.headers['content-encoding']))
  // The new body has no coding.
  delete headers['content-encoding']
  return { method, target, headers, body: Buffer.from(bodyOf(text, shown.body ?? '', given.body)) }
}

/** Refuses a changed value in which something is still redacted. */
function whole(value: string, what: string): string {
  if (!value.includes(redacted)) return value
  throw new Error(`${what} has changed and contains ${redacted}: write the value, or leave all of it as it was`)
}

/** Puts real parts in the place of unchanged ones: the path and its parameters, or the fields of a form. */
function partsOf(real: string, shown: string, given: string): string {
  if (given === shown) return real
  const [from, as, to] = [real, shown, given].map((one) => one.split(/(?=[?&])/)) as [string[], string[], string[]]
  // A part may have been cut, or redacted with its separator.
  if (from.length !== as.length) throw whyCut()
  const bare = (part: string) => part.replace(/^[?&]/, '')
  const names = as.map(bare)
  return to
    .map((part) => {
      const at = names.indexOf(bare(part))
      return at < 0
        ? whole(part, 'the path or a field')
        : part.slice(0, -bare(part).length || undefined) + bare(from[at]!)
    })
    .join('')
}

const whyCut = () => new Error('this was shown redacted or cut, so it cannot be changed: leave it as it was')

function bodyOf(real: string, shown: string, given: string): string {
  const [from, as, to] = [real, shown, given].map((text) => safely(() => JSON.parse(text) as unknown))
  // What was shown as it is, is sent as it was written: numbers keep their digits.
  if (shown === real || (from !== undefined && shown === JSON.stringify(from, null, 2))) return whole(given, 'the body')
  if (isObject(to)) return JSON.stringify(restored(to, as, from))
  if (from === undefined && !shown.includes('\n')) return partsOf(real, shown, given)
  throw whyCut()
}

/** Puts real values in the place of unchanged ones. Not within lists, whose elements may have moved. */
function restored(given: unknown, shown: unknown, real: unknown): unknown {
  const text = JSON.stringify(given)
  if (text === JSON.stringify(shown)) return real
  if (!isObject(given) || !isObject(shown) || !isObject(real)) {
    whole(text, 'a value in the body')
    return given
  }
  const member = (of: object, name: string): unknown => (Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined)
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, restored(one, member(shown, name), member(real, name))]),
  )
}
