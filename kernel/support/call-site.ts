import { fileURLToPath } from 'node:url'

// The folder with this package's own code: frames in it are not the caller's. In a build this module is part of
// `dist/chunks/…`; in the sources it is one folder deeper.
const isBuilt = import.meta.url.includes('/chunks/')
const root = fileURLToPath(new URL(isBuilt ? '../' : '../../', import.meta.url))
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
    return this.toString().split('/').slice(-2).join('/').replace(/:\d+$/, '')
  }
}

/**
 * `file:line:column` of the first frame of a stack that is outside the framework and whose place does not contain `except`.
 *
 * @example
 * placeIn(new Error('lost').stack ?? '') // '/app/src/jobs.ts:7:1'
 */
export function placeIn(stack: string, except = '\0'): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    const place = /\(?((?:file:\/\/)?\/?[^()\s]+:\d+:\d+)\)?\s*$/.exec(line)?.[1]
    // Frames of the runtime itself, such as its helpers for decorators.
    if (place === undefined || /^(?:node|bun|deno|ext|native):/.test(place)) continue
    const path = place.startsWith('file://') ? toPath(place) : place
    if (!path.includes(except) && !ownFolders.some((folder) => path.startsWith(folder))) return path
  }
  return undefined
}

function toPath(url: string): string {
  const [, file, position] = /^(.*?)(:\d+:\d+)$/.exec(url) ?? []
  try {
    return fileURLToPath(file ?? url) + (position ?? '')
  } catch {
    return url
  }
}
