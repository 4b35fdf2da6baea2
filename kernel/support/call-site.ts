import { fileURLToPath } from 'node:url'
import { safely } from './safely.ts'

// The folder with this package's own code: frames in it are not the caller's. In a build this module is part of
// `dist/chunks/…`; in the sources it is one folder deeper.
const root = fileURLToPath(new URL(import.meta.url.includes('/chunks/') ? '../' : '../../', import.meta.url))
const ownFolders = ['chunks/', 'kernel/', 'plugins/', 'cli/', 'server.', 'index.'].map((part) => root + part)

/**
 * Remembers where application code called the framework; the text is made only when it is needed.
 *
 * Taking a stack costs a few microseconds, and formatting it several times that, so ten thousand routes stay cheap.
 *
 * @example
 * const declared = new CallSite()
 * console.log(`declared at ${declared}`) // declared at /app/src/jobs.ts:7:1
 */
export class CallSite {
  readonly #trace: { stack?: string } | undefined

  constructor() {
    const limit = Error.stackTraceLimit
    // Of the framework and of the compiler's helpers, a decorated class has fourteen frames, a message that tracing tools follow seventeen.
    Error.stackTraceLimit = 20
    this.#trace = new Error('call site')
    Error.stackTraceLimit = limit
  }

  /** `file:line:column` of the first frame outside the framework, or `an unknown place`. */
  toString(): string {
    return placeIn(this.#trace?.stack ?? '') ?? 'an unknown place'
  }

  /** The short form, `src/auth.ts:12`: folder, file and line. */
  toLine(): string {
    return this.toString().split(/[\\/]/).slice(-2).join('/').replace(/:\d+$/, '')
  }
}

/**
 * A frame in the form of V8, which the other runtimes have as well, or the line before a syntax error. A path may have spaces and parentheses; the
 * frame of an `eval` has a second place, which is left out. `node:`, `ext:` and `native:`, of the runtime itself, are not files.
 */
const form = /^(?:at (?:async )?)?(?:(.*?) ?\()?((?:[a-z]+:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d+)(?::(\d+))?(?:\).*)?$/

/**
 * The function, file, line and column that a line of a stack names, and `file:line:column`; `undefined` if it names no file. A name that is
 * missing is `''`, and a column 0.
 *
 * @example
 * frameIn('    at sell (file:///my%20app/src/shop.ts:7:21)')?.place // '/my app/src/shop.ts:7:21'
 */
export function frameIn(text: string) {
  // A longer line is a message that looks like a frame; one of 15 000 characters took a fifth of a second.
  const [, name = '', given = '', line, column = 0] = (text.length < 1000 && form.exec(text.trim())) || []
  const file = given.startsWith('file:') ? safely(() => fileURLToPath(given)) : given
  return file
    ? { name, file, line: Number(line), column: Number(column), place: `${file}:${line}:${column}` }
    : undefined
}

/**
 * `file:line:column` of the first frame of a stack that is outside the framework and whose place does not contain `except`.
 *
 * @example
 * placeIn(new Error('lost').stack ?? '') // '/app/src/jobs.ts:7:1'
 */
export function placeIn(stack: string, except = '\0'): string | undefined {
  for (const text of stack.split('\n').slice(1)) {
    const { file = except, place } = frameIn(text) ?? {}
    if (!file.includes(except) && !ownFolders.some((folder) => file.startsWith(folder))) return place
  }
  return undefined
}
