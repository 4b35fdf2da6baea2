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

/** Whether a schema of this process has a mark at all. */
let isAny = false
/** Whether a marked name looks different in JSON. */
let isAnyOdd = false
/** A text to look for, and a part of it that is the same however often it has been written as JSON. */
type Text = readonly [text: string, core: string]

/** The marked values that some work has received, and the texts to look for, made when something is written. */
interface Seen {
  readonly around: Seen | undefined
  readonly values: Set<unknown>
  texts: readonly Text[] | undefined
}

const seen = new AsyncLocalStorage<Seen>()

/** The work that receives what schemas check. */
const works = ['request', 'queue.attempt', 'mqtt.message', 'websocket.message']

/** A column `first_name` has what the member `firstName` has. */
const plain = (name: string) => name.replace(/[-_]/g, '').toLowerCase()

/** Adds names of marked members; from the first mark on, work remembers its marked values. */
export function markNames(added: Iterable<string>): void {
  const begin = () => ({ around: seen.getStore(), values: new Set(), texts: undefined })
  if (!isAny) for (const work of works) channel(`tracing:framework:${work}:start`).bindStore(seen, begin)
  isAny = true
  for (const name of added) {
    names.add(plain(name))
    isAnyOdd ||= name.length > 128 || JSON.stringify(name).includes('\\')
  }
}

/** Whether a schema marks a member with this name. */
export const isMarkedName = (name: string): boolean => names.size > 0 && names.has(plain(name))

/** Whether values with this name are hidden: it is that of a secret, or of a marked member. */
export const isHiddenName = (name: string): boolean => isSecret(name) || isMarkedName(name)

/** A path without the parameters that a schema marks. */
export const pathWithoutMarked = (path: string, params: Params): string =>
  names.size === 0 ? path : redactPath(path, secretsOf(params, isMarkedName))

/** Shorter values would be found in every word. */
const shortest = 4
/** How many values one piece of work remembers, of a list of a million too: if it has received more, all its texts are hidden. */
const most = 1_000
/** How many texts are looked for in how many characters: a client may have written most of both. This takes some milliseconds. */
const mostCompared = 40_000_000

/** Remembers marked values, which the text about the running work must not repeat. */
export function rememberMarked(values: readonly unknown[]): void {
  const one = seen.getStore()
  if (one === undefined) return
  for (const value of values) if (one.values.size <= most) one.values.add(value)
  one.texts = undefined
}

/** Values as they may be written, the longest first: in JSON, in an address, in lower case. */
function textsOf(values: Iterable<unknown>): readonly string[] {
  const all = [...values].map(String).flatMap((text) => {
    const inAddress = encodeURIComponent(text.toWellFormed())
    return [text, JSON.stringify(text).slice(1, -1), inAddress, text.toLowerCase()]
  })
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** The longest part without what JSON escapes, near the begin of a text. */
const coreOf = (text: string) =>
  text
    .slice(0, 64)
    .split(/["\\\p{Cc}]+|\\u[\da-f]{0,4}/u)
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '')

/** The texts of the running work and of the work around it; `undefined` if they are too many to look for in so many characters. */
function remembered(characters: number): readonly Text[] | undefined {
  let all: readonly Text[] = []
  for (let one = seen.getStore(); one !== undefined; one = one.around) {
    if (one.values.size > most) return undefined
    one.texts ??= textsOf(one.values)
      .filter(({ length }) => length >= shortest)
      .map((text) => [text, coreOf(text)])
    all = all.length === 0 ? one.texts : [...all, ...one.texts]
  }
  return all.length * characters > mostCompared ? undefined : all
}

/** Takes these values, however short, out of texts. */
export function hiding(values: Iterable<unknown>): (text: string) => string {
  const texts = textsOf(values)
  return (text) =>
    texts.reduce((all, one) => (one.length < shortest ? withoutWord(all, one) : all.replaceAll(one, redacted)), text)
}

/** Text without those that are remembered. */
const withoutTexts = (text: string, texts: readonly Text[] | undefined): string =>
  texts === undefined ? redacted : texts.reduce((all, [one]) => all.replaceAll(one, redacted), text)

/** A short value is hidden where it is a word. */
const withoutWord = (text: string, word: string) => {
  // A list may have thousands of words, most of which are not there.
  if (word === '' || !text.includes(word)) return text
  const escaped = word.replace(/\W/g, '\\$&')
  return text.replace(new RegExp(`(?<![A-Za-z\\d])${escaped}(?![A-Za-z\\d])`, 'g'), redacted)
}

/** Text without the marked values of the running work. */
export const hideInText = (text: string): string => (isAny ? withoutTexts(text, remembered(text.length)) : text)

const none: ReadonlySet<string> = new Set()
/** Members whose name is not the application's, but whose text may repeat a value. */
const ofError: ReadonlySet<string> = new Set(['type', 'name', 'message', 'stack', 'code', 'status'])
const ofEntry: ReadonlySet<string> = new Set(['msg', 'path', 'err', 'error', 'original', 'topic', 'channel'])

/**
 * Data without what has the name of a marked member, at any depth, and without the marked values of the running work in its strings.
 * Of the object itself, the members in `own` stay: their names are those of the framework. It has so many characters.
 */
export function hideMarked(value: unknown, own: ReadonlySet<string> = none, characters = 0): unknown {
  if (!isAny) return value
  const values = remembered(characters)
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
  ...['level', 'time', 'pid', 'hostname', 'reqId', 'method', 'route', 'status', 'ms', 'aborted', 'queue'],
  ...['job', 'trace_id', 'span_id', 'trace_flags'],
])

/** The fields of a log entry without marked members and values. */
export const hideFields = <Fields>(fields: Fields, characters?: number): Fields =>
  hideMarked(fields, ownFields, characters) as Fields

/** Whether a line may have a marked name or value: reading and writing it again takes ten times as long as this. */
function mayHaveMarked(line: string): boolean {
  if (isAnyOdd || (remembered(line.length)?.some(([, core]) => line.includes(core)) ?? true)) return true
  // Each character is read once: a client may have written most of the line.
  for (const [, name] of line.matchAll(/"([^"\\]{1,128})":/g)) if (isMarkedName(name!)) return true
  return false
}

/** A line of JSON from pino, without marked members and values. */
export function hideInLine(line: string): string {
  if (!isAny || !mayHaveMarked(line)) return line
  return safely(
    () => `${JSON.stringify(hideFields(JSON.parse(line), line.length))}\n`,
    '{"level":40,"msg":"an entry could not be searched for marked members, and was left out"}\n',
  )
}
