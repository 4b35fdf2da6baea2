import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { isObject, mapMembers } from './json.ts'
import { isSecret, type Params, redacted, redactPath, secretsOf } from './redact.ts'
import { safely } from './safely.ts'

/**
 * The names of the members that schemas of this process mark as `sensitive` or `secret`. Schemas are compiled once per process, so two
 * servers in one share them.
 */
const names = new Set<string>()

/** The marked values that some work has received, and those of the work around it. */
interface Seen {
  readonly around: Seen | undefined
  readonly values: Set<string>
}

const seen = new AsyncLocalStorage<Seen>()

/** The work that receives what schemas check. */
const works = ['request', 'queue.attempt', 'mqtt.message', 'websocket.message']

/** A column `first_name` has what the member `firstName` has. */
const plain = (name: string) => name.replace(/[-_]/g, '').toLowerCase()

/** Adds names of marked members; with the first, work begins to remember its marked values. */
export function markNames(added: Iterable<string>): void {
  if (names.size === 0)
    for (const work of works)
      channel(`tracing:framework:${work}:start`).bindStore(seen, () => ({
        around: seen.getStore(),
        values: new Set<string>(),
      }))
  for (const name of added) names.add(plain(name))
}

/** Whether a schema marks a member with this name. */
export const isMarkedName = (name: string): boolean => names.size > 0 && names.has(plain(name.slice(-128)))

/** Whether values with this name are hidden: it is that of a secret, or of a marked member. */
export const isHiddenName = (name: string): boolean => isSecret(name) || isMarkedName(name)

/** A path without the parameters that a schema marks. */
export const pathWithoutMarked = (path: string, params: Params): string =>
  names.size === 0 ? path : redactPath(path, secretsOf(params, isMarkedName))

/** Shorter values would be found in every word. */
const shortest = 4
/** How many values one piece of work remembers: a client may send a list of a million. */
const most = 1_000

/** Remembers marked values, which the text about the running work must not repeat. */
export function rememberMarked(values: readonly unknown[]): void {
  const known = seen.getStore()?.values
  if (known === undefined) return
  for (const value of values) {
    if (known.size >= most) return
    for (const text of textsOf(value)) if (text.length >= shortest) known.add(text)
  }
}

/** A value as it may be written: in JSON, in an address, in lower case. */
const textsOf = (value: unknown): string[] => {
  const text = String(value)
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed()), text.toLowerCase()]
}

function* remembered(): Iterable<string> {
  for (let one = seen.getStore(); one !== undefined; one = one.around) yield* one.values
}

/** Text without these values, however short. */
export const withoutValues = (text: string, values: Iterable<unknown>): string =>
  withoutTexts(text, [...values].flatMap(textsOf))

const withoutTexts = (text: string, values: readonly string[]): string =>
  [...values]
    .sort((a, b) => b.length - a.length)
    .reduce((all, one) => (one.length >= shortest ? all.replaceAll(one, redacted) : withoutWord(all, one)), text)

/** A short value is hidden where it is a word. */
const withoutWord = (text: string, word: string) => {
  const escaped = word.replace(/\W/g, '\\$&')
  return word === '' ? text : text.replace(new RegExp(`(?<![A-Za-z\\d])${escaped}(?![A-Za-z\\d])`, 'g'), redacted)
}

/** Text without the marked values of the running work. */
export const hideInText = (text: string): string => (names.size === 0 ? text : withoutTexts(text, [...remembered()]))

const none: ReadonlySet<string> = new Set()
/** Members whose name is not the application's, but whose text may repeat a value. */
const ofError: ReadonlySet<string> = new Set(['type', 'name', 'message', 'stack', 'code', 'status'])
const ofEntry: ReadonlySet<string> = new Set(['msg', 'path'])

/**
 * Data without what has the name of a marked member, at any depth, and without the marked values of the running work in its strings.
 * Of the object itself, the members in `own` stay: their names are those of the framework.
 */
export function hideMarked(value: unknown, own: ReadonlySet<string> = none): unknown {
  if (names.size === 0) return value
  const values = [...remembered()]
  const inside = (one: unknown, kept = none): unknown => {
    if (typeof one === 'string') return withoutTexts(one, values)
    if (Array.isArray(one)) return one.map((item) => inside(item))
    if (!isObject(one) || typeof one.toJSON === 'function') return one
    const texts = kept !== none ? ofEntry : typeof one.stack === 'string' ? ofError : none
    return mapMembers(one, (member, name) => {
      if (kept.has(name) && typeof member !== 'object') return member
      const isShown = member === null || kept.has(name) || texts.has(name) || !isMarkedName(name)
      return isShown ? inside(member) : redacted
    })
  }
  return inside(value, own)
}

/** The fields at the top of a log entry that the framework writes itself, and a mark on a member with such a name does not hide. */
const ownFields: ReadonlySet<string> = new Set([
  ...['level', 'time', 'pid', 'hostname', 'reqId', 'method', 'route', 'status', 'ms', 'aborted', 'err', 'error'],
  ...['original', 'queue', 'topic', 'channel', 'job', 'trace_id', 'span_id', 'trace_flags'],
])

/** The fields of a log entry without marked members and values. */
export const hideFields = <Fields>(fields: Fields): Fields => hideMarked(fields, ownFields) as Fields

/** A line of JSON from pino, without marked members and values. */
export function hideInLine(line: string): string {
  if (names.size === 0) return line
  return safely(
    () => `${JSON.stringify(hideFields(JSON.parse(line)))}\n`,
    '{"level":40,"msg":"an entry could not be searched for marked members, and was left out"}\n',
  )
}
