import { systemClock, type Timer } from '../../../kernel/index.ts'
import { isObject, type Json } from '../values/json.ts'
import { safely } from '../values/safely.ts'
import { failureLines, saidAlone, saidBy, type Thrown, thrownOf } from './error-lines.ts'
import type { Paint } from './paint.ts'

/** Milliseconds for which a failure waits for the line of its request, so that it is printed below it. */
const patience = 200
/** How many characters of the other members of an entry are shown. */
const maxMembers = 500

type Entry = Json

/** Members that every line has, or that are shown in a way of their own. */
const own = new Set(['level', 'time', 'pid', 'hostname', 'reqId', 'msg', 'err', 'error', 'name', 'v'])

/** An entry as text: its own line, and the lines below it. */
interface Text {
  readonly first: string
  readonly below: readonly string[]
  /** Whether the line of the request contains the same information. */
  readonly isOfRequest: boolean
}

/** Writes the JSON lines of a log as text for people: one line per request, with failures below it. */
export class ReadableLines {
  readonly #write: (text: string) => void
  readonly #paint: Paint
  readonly #hasRequests: boolean
  /** Failures whose request has no response yet, by the id of the request. */
  readonly #waiting = new Map<string, { readonly texts: readonly Text[]; readonly timer: Timer }>()

  /** `hasRequests` says that the log also has a line for each request. */
  constructor(write: (text: string) => void, paint: Paint, { hasRequests }: { readonly hasRequests: boolean }) {
    this.#write = write
    this.#paint = paint
    this.#hasRequests = hasRequests
  }

  write(line: string): void {
    const entry: unknown = safely(() => JSON.parse(line))
    if (!isObject(entry)) this.#write(line)
    else if (isOfRequest(entry)) {
      const failures = this.#taken(entry.reqId)
      this.#put([this.#request(entry), ...failures.flatMap((one) => (one.isOfRequest ? one.below : linesOf(one)))])
    } else if (this.#hasRequests && typeof entry.reqId === 'string' && entry.err !== undefined) {
      this.#keep(entry.reqId, this.#other(entry))
    } else this.#put(linesOf(this.#other(entry)))
  }

  /** Writes all waiting entries. */
  flush(): void {
    for (const id of [...this.#waiting.keys()]) this.#release(id)
  }

  #put(lines: readonly string[]): void {
    if (lines.length > 0) this.#write(`${lines.join('\n')}\n`)
  }

  #keep(id: string, text: Text): void {
    const texts = [...this.#taken(id), text]
    const timer = systemClock.setTimeout(() => this.#release(id), patience)
    timer.unref()
    this.#waiting.set(id, { texts, timer })
  }

  #release(id: string): void {
    this.#put(this.#taken(id).flatMap(linesOf))
  }

  #taken(id: string): readonly Text[] {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return []
    systemClock.clear(waiting.timer)
    this.#waiting.delete(id)
    return waiting.texts
  }

  #request({ time, method, path, status, ms }: Entry & Responded): string {
    const color =
      status === undefined ? 'dim' : status >= 500 ? 'red' : status >= 400 ? 'yellow' : status >= 300 ? 'cyan' : 'green'
    const took = ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`
    const what = `${onOneLine(method).padEnd(6)} ${onOneLine(path)}`
    return `${this.#clock(time)} ${what} ${this.#paint(color, String(status ?? 'aborted'))} ${this.#paint('dim', took)}`
  }

  #other(entry: Entry): Text {
    const { time, level, err, error } = entry
    const number = typeof level === 'number' ? level : 30
    const msg = typeof entry.msg === 'string' ? entry.msg : ''
    const thrown = thrownIn(err ?? error)?.map(cleaned)
    // The error is printed below, in full.
    const said = thrown === undefined ? undefined : / failed(?= with )/.exec(msg)
    const isOfRequest = said !== undefined && said !== null
    const [text = '', ...more] = clean(isOfRequest ? msg.slice(0, said.index + said[0].length) : msg).split('\n')
    const label = number >= 50 ? this.#paint('red', 'error ') : number >= 40 ? this.#paint('yellow', 'warn ') : ''
    const failure = thrown === undefined ? [] : failureLines(thrown, this.#paint)
    const hint = isOfRequest ? hintIn(clean(msg.slice(said.index + ' failed with '.length)), thrown!) : ''
    return {
      first: `${this.#clock(time)} ${label}${text}${this.#members(entry)}`,
      below: [...more, ...failure, ...(hint === '' ? [] : [hint])].map((line) => indent + line),
      isOfRequest,
    }
  }

  #members(entry: Entry): string {
    const members = Object.entries(entry).filter(([name]) => !own.has(name))
    if (members.length === 0) return ''
    const text = members.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    const all = onOneLine(text.join(' '))
    return this.#paint('dim', ` ${all.length > maxMembers ? `${all.slice(0, maxMembers)}…` : all}`)
  }

  #clock(time: unknown): string {
    const date = new Date(typeof time === 'number' ? time : systemClock.now())
    return this.#paint('dim', date.toTimeString().slice(0, 8))
  }
}

interface Responded {
  readonly method: string
  readonly path: string
  /** Absent if the client left before its response. */
  readonly status?: number
  readonly ms: number
}

/** The part of a message that is not in the error itself, such as a remedy. */
function hintIn(message: string, chain: readonly Thrown[]): string {
  const said = saidBy(chain).split('\n')[0]!
  return message.startsWith(said) ? message.slice(said.length).replace(/^[.\s]+/, '') : ''
}

const linesOf = ({ first, below }: Text) => [first, ...below]

/** The indentation that places lines below the message, which comes after the time. */
const indent = ' '.repeat(9)

/** Whether an entry is the line of a request with its response. */
function isOfRequest(entry: Entry): entry is Entry & Responded & { readonly reqId: string } {
  const { reqId, method, path, status, aborted, ms } = entry
  const texts = [reqId, method, path].every((one) => typeof one === 'string')
  return texts && (typeof status === 'number' || aborted === true) && typeof ms === 'number'
}

/** An error in the form of loggers, with its causes. */
function thrownIn(err: unknown): Thrown[] | undefined {
  if (typeof err === 'string') return [saidAlone(err)]
  if (typeof err !== 'object' || err === null) return undefined
  const { stack, type, name, message, cause, errors, isOwn } = err as Entry
  const inner = [cause, ...(Array.isArray(errors) ? errors.slice(0, 3) : [])].flatMap((one) => thrownIn(one) ?? [])
  const own = {
    name: String(type ?? name ?? 'Error'),
    message: String(message ?? ''),
    stack: typeof stack === 'string' ? stack : '',
    isOwn: isOwn === true,
  }
  return [own, ...inner]
}

// A terminal interprets U+001B and U+009B as the start of a command, and a direction mark reverses the rest of a line.
const dangerous = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** A string without commands for a terminal. */
export const clean = (text: string): string =>
  text.replace(dangerous, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const cleaned = ({ name, message, stack, isOwn }: Thrown): Thrown => ({
  name: clean(name),
  message: clean(message),
  stack: clean(stack),
  isOwn,
})

const onOneLine = (text: string) => clean(text).replaceAll('\n', '\\n')

/** A thrown value, as text for people. */
export function failureText(thrown: unknown, paint: Paint): string {
  return failureLines(thrownOf(thrown).map(cleaned), paint).join('\n')
}
