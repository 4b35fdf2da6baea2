import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** The output of a run of the command line. */
export interface Output {
  /** A line of the result, to standard output. */
  print(line: string): void
  /** A line about it, to standard error. */
  note(line: string): void
  /** A line about a failure. */
  fail(line: string): void
  /** The characters of a line of standard output; infinite where it is not a terminal: there a line is an entry. */
  readonly width: number
  /** In bold, where standard output shows it. */
  bold(text: string): string
  /**
   * Resolves when everything has been passed to the system: a pipe may be slower than the end of the process. With the error
   * where the result could not be written, to a full disk for example.
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

/** That of a terminal; one without it, or one that is too narrow, counts as 80. */
export function widthOf({ isTTY, columns = 80 }: { isTTY?: boolean; columns?: number }): number {
  if (isTTY !== true) return Number.POSITIVE_INFINITY
  return columns < 40 ? 80 : columns
}

export function outputTo({ stdout, stderr, env }: Streams): Output {
  const colors = { out: hasColor(stdout, env), err: hasColor(stderr, env) }
  let lost: Error | undefined
  stderr.on('error', () => {})
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has ended, `framework list | head -1` for example: that is not a failure.
    if (error.code !== 'EPIPE') lost ??= error
  })
  const paint = (format: Parameters<typeof styleText>[0], text: string, color: boolean) =>
    color ? styleText(format, text, { validateStream: false } as never) : text
  // The present function: it may be replaced later to keep the application from standard output.
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
