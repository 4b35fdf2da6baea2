import { createRequire } from 'node:module'
import type { pino as Pino } from 'pino'
import { systemClock } from '../../kernel/index.ts'
import { textFor } from '../shared/terminal/form.ts'
import { ReadableLines } from '../shared/terminal/lines.ts'
import { hideInLine } from '../shared/values/marked.ts'
import { safely } from '../shared/values/safely.ts'

// Loaded synchronously with the first logger: a logger cannot wait, and importing the framework then does not load pino.
const load = createRequire(import.meta.url)

export function loadPino(): typeof Pino {
  return (load('pino') as { pino: typeof Pino }).pino
}

/** Bytes that may wait for a slow sink; lines beyond that are dropped and counted. */
const maxWaiting = 16 * 1024 * 1024
/** Milliseconds that closing waits for the sink. */
const flushMs = 1_000

/** The destination of log lines: an object with a method `write` for strings. */
export interface LogStream {
  /** Writes one line, which includes its line end. */
  write(line: string): unknown
}

/** A writable stream with optional members. */
interface Target extends LogStream {
  readonly writableLength?: number
  readonly destroyed?: boolean
  on?(event: 'error', listener: () => void): unknown
}

const guarded = new WeakSet<object>()

/** The destination of pino's lines; `isText`: for people rather than JSON. A sink that breaks or blocks never ends the server. */
function sinkOver(target: Target, waiting: () => number, isText = false) {
  let lost = 0
  // Without a listener, an error of the stream would end the process.
  if (!guarded.has(target)) target.on?.('error', () => {})
  guarded.add(target)
  // It throws if the stream is closed, so there is nowhere left to report this.
  const write = (line: string) => safely(() => target.write(line))
  return {
    isText,
    write(line: string): void {
      if (waiting() > maxWaiting) {
        lost++
        return
      }
      if (lost > 0) {
        write(droppedLine(lost))
        lost = 0
      }
      write(safeLine(hideInLine(line)))
    },
    /** Resolves when everything has been written, or after a second. */
    async flush(): Promise<void> {
      const until = systemClock.now() + flushMs
      while (waiting() > 0 && target.destroyed !== true && systemClock.now() < until) await systemClock.sleep(5)
    },
  }
}

type Sink = ReturnType<typeof sinkOver>

const droppedLine = (count: number) =>
  `${JSON.stringify({ level: 40, time: systemClock.now(), dropped: count, msg: `${count} entries were dropped: the destination did not accept them` })}\n`

/** Standard output or standard error: commands reserve the former for their results, and set this before importing the application. */
const descriptor = () =>
  (globalThis as { [key: symbol]: unknown })[Symbol.for('framework.log.toStandardError')] === true ? 2 : 1

let stdout: Sink | undefined

/**
 * Returns the sink for standard output, one per process, which writes asynchronously: a reader that stops reading would block a
 * synchronous write, and with it every request. Waiting lines are written on exit.
 */
function standardOutput(pino: typeof Pino): Sink {
  if (stdout === undefined) {
    let waiting = 0
    let closed = false
    const dest = descriptor()
    const destination = pino.destination({ dest, sync: false })
    destination.on('write', (bytes: number) => {
      waiting = Math.max(0, waiting - bytes)
    })
    destination.on('error', (error: { code?: unknown }) => {
      closed ||= error.code === 'EPIPE'
      if (closed) waiting = 0
    })
    const write = (line: string) => {
      if (closed) return
      waiting += Buffer.byteLength(line)
      destination.write(line)
    }
    const paint = textFor(dest)
    if (paint === undefined) stdout = sinkOver({ write }, () => waiting)
    else {
      const lines = new ReadableLines(write, paint, { hasRequests: true })
      process.once('exit', () => {
        lines.flush()
        if (!closed) destination.flushSync()
      })
      stdout = sinkOver(lines, () => waiting, true)
    }
  }
  return stdout
}

export function openSink(pino: typeof Pino, stream: Target | undefined): Sink {
  if (stream === undefined) return standardOutput(pino)
  return sinkOver(stream, () => stream.writableLength ?? 0)
}

/** Maximum characters of one line: a request header may have a megabyte, a log line may not. */
const maxLine = 32_768
/** Maximum characters of one string in a line that is too long. */
const maxText = 1_024

// Control characters that JSON leaves unescaped: a terminal interprets U+009B as the start of a command, and some readers
// interpret U+2028 as the end of a line.
const dangerous = /[\x7f-\x9f\u2028\u2029]/

/** Makes a line written by pino safe to store and to show: a single line, limited in length, without control characters. */
function safeLine(line: string): string {
  const short = line.length > maxLine ? shorten(line) : line
  if (!dangerous.test(short)) return short
  return short.replace(new RegExp(dangerous, 'g'), (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function shorten(line: string): string {
  const cut = (_key: string, value: unknown) =>
    typeof value === 'string' && value.length > maxText
      ? `${value.slice(0, maxText)}… (${value.length} characters)`
      : value
  const note = `an entry of ${line.length} characters was cut`
  const shorter = safely(() => {
    const entry = JSON.parse(line, cut) as Record<string, unknown>
    const short = `${JSON.stringify(entry)}\n`
    if (short.length <= maxLine) return short
    const { level, time, pid, hostname, reqId, msg } = entry
    return `${JSON.stringify({ level, time, pid, hostname, reqId, msg, cut: note })}\n`
  })
  return shorter ?? `${JSON.stringify({ level: 40, time: systemClock.now(), msg: note })}\n`
}
