import type { Writable } from 'node:stream'
import { paintFor } from '../plugins/shared/terminal/paint.ts'

/** The output of a run of the command line. */
export type Output = ReturnType<typeof outputTo>

export interface Streams {
  readonly stdout: Writable & { isTTY?: boolean; columns?: number }
  readonly stderr: Writable & { isTTY?: boolean }
  readonly env: { readonly [name: string]: string | undefined }
}

/** The width of a terminal; 80 for one that does not report it, or is too narrow. */
export function widthOf({ isTTY, columns = 80 }: { isTTY?: boolean; columns?: number }): number {
  if (isTTY !== true) return Number.POSITIVE_INFINITY
  return columns < 40 ? 80 : columns
}

export function outputTo({ stdout, stderr, env }: Streams) {
  const paint = paintFor(stderr.isTTY === true, env)
  let lost: Error | undefined
  stderr.on('error', () => {})
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // If the reader has ended, as in `framework list | head -1`, that is not a failure.
    if (error.code !== 'EPIPE') lost ??= error
  })
  // The current function: it may be replaced later to keep the application from standard output.
  const write = stdout.write.bind(stdout)
  return {
    /** Writes a line of the result to standard output. */
    print: (line: string): void => void write(`${line}\n`),
    /** Writes a line about the result to standard error. */
    note: (line: string): void => void stderr.write(`${paint('dim', line)}\n`),
    /** Writes a line about a failure. */
    fail: (line: string): void => void stderr.write(`${paint('red', line)}\n`),
    /** The width of standard output in characters; infinite if it is not a terminal, since each line is then an entry. */
    width: widthOf(stdout),
    /** Makes text bold, if standard output can show it. */
    bold: (text: string) => paintFor(stdout.isTTY === true, env)('bold', text),
    /**
     * Resolves when everything has been passed to the system: a pipe may be slower than the end of the process. Resolves with the error
     * if the result could not be written, for example to a full disk.
     */
    async flushed(): Promise<Error | undefined> {
      await Promise.all([stdout, stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))))
      return lost
    },
  }
}
