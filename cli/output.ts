import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** The output of a run of the command line. */
export interface Output {
  /** Writes a line of the result to standard output. */
  print(line: string): void
  /** Writes a line about the result to standard error. */
  note(line: string): void
  /** Writes a line about a failure. */
  fail(line: string): void
  /** The width of standard output in characters; infinite if it is not a terminal, since each line is then an entry. */
  readonly width: number
  /** Makes text bold, if standard output can show it. */
  bold(text: string): string
  /**
   * Resolves when everything has been passed to the system: a pipe may be slower than the end of the process. Resolves with the error
   * if the result could not be written, for example to a full disk.
   */
  flushed(): Promise<Error | undefined>
}

export interface Streams {
  readonly stdout: Writable & { isTTY?: boolean; columns?: number }
  readonly stderr: Writable & { isTTY?: boolean }
  readonly env: { readonly [name: string]: string | undefined }
}

/** https://no-color.org: any value that is not empty turns colours off, whatever other settings say. */
function hasColor(stream: { isTTY?: boolean }, env: Streams['env']): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** The width of a terminal; 80 for one that does not report it, or is too narrow. */
export function widthOf({ isTTY, columns = 80 }: { isTTY?: boolean; columns?: number }): number {
  if (isTTY !== true) return Number.POSITIVE_INFINITY
  return columns < 40 ? 80 : columns
}

export function outputTo({ stdout, stderr, env }: Streams): Output {
  const colors = { out: hasColor(stdout, env), err: hasColor(stderr, env) }
  let lost: Error | undefined
  stderr.on('error', () => {})
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // If the reader has ended, as in `framework list | head -1`, that is not a failure.
    if (error.code !== 'EPIPE') lost ??= error
  })
  const paint = (format: Parameters<typeof styleText>[0], text: string, color: boolean) =>
    color ? styleText(format, text, { validateStream: false } as never) : text
  // The current function: it may be replaced later to keep the application from standard output.
  const write = stdout.write.bind(stdout)
  return {
    print: (line) => void write(`${line}\n`),
    note: (line) => void stderr.write(`${paint('dim', line, colors.err)}\n`),
    fail: (line) => void stderr.write(`${paint('red', line, colors.err)}\n`),
    width: widthOf(stdout),
    bold: (text) => paint('bold', text, colors.out),
    async flushed() {
      await Promise.all([stdout, stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))))
      return lost
    },
  }
}
