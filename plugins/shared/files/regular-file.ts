import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { defineErrors, withCause } from '../../../kernel/support/errors.ts'

const { IrregularFileError } = defineErrors({
  IrregularFileError: (path: string, kind: string) => `${path} is ${kind}, not a file`,
})

/** An open file with its status when it was opened: the file that was measured is the one that is read, even if its path is replaced. */
export interface RegularFile {
  /** The open file; the caller closes it. */
  readonly handle: FileHandle
  /** Its size and times when it was opened. */
  readonly stat: Stats
  /** The path that was opened. */
  readonly path: string
}

/**
 * Opens without blocking: a named pipe would keep one of the few file threads waiting for a writer, and four such pipes
 * would stop every file operation of the process.
 */
export const unblocked: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a file for reading.
 *
 * @throws (as a rejection) IrregularFileError, whose `kind` says what exists instead of a file; otherwise the system's error.
 * @example
 * const { handle, stat } = await openRegularFile('reports/2026.pdf')
 * console.log(stat.size)
 * await handle.close()
 */
export async function openRegularFile(path: string): Promise<RegularFile> {
  const handle = await open(path, unblocked).catch((error: unknown) => {
    throw openingFailure(path, error)
  })
  return regularFile(path, handle)
}

/**
 * Measures a file that is open.
 *
 * @throws (as a rejection) IrregularFileError for anything else, which it closes.
 * @example
 * import { open } from 'node:fs/promises'
 * import { regularFile } from 'framework/kernel'
 *
 * const { stat } = await regularFile('reports/2026.pdf', await open('reports/2026.pdf'))
 */
export async function regularFile(path: string, handle: FileHandle): Promise<RegularFile> {
  try {
    return { handle, stat: regularOnly(path, await handle.stat()), path }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Describes what exists at a path, where it is not a file.
 *
 * @example
 * import { lstat } from 'node:fs/promises'
 * import { kindOf } from 'framework/kernel'
 *
 * kindOf(await lstat('/tmp')) // 'a folder'
 */
export function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder'
  if (stat.isFIFO()) return 'a named pipe'
  return stat.isSocket() ? 'a socket' : 'a device'
}

const irregular = (path: string, kind: string): Error => Object.assign(IrregularFileError(path, kind), { kind })

/** Returns the status of a file. @throws IrregularFileError for anything else. */
export function regularOnly(path: string, stat: Stats): Stats {
  if (stat.isFile()) return stat
  throw irregular(path, kindOf(stat))
}

/** Why a path cannot be opened; sockets, and on some systems folders, cannot be opened at all because of their kind. */
export function openingFailure(path: string, error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (code === 'ENXIO') return withCause(irregular(path, 'a socket'), error)
  return code === 'EISDIR' ? withCause(irregular(path, 'a folder'), error) : error
}

// The last one is for a folder, a pipe or a device.
const missing =
  /^(ENOENT|ENOTDIR|EISDIR|ENAMETOOLONG|ERR_INVALID_ARG_VALUE|EINVAL|ELOOP|EACCES|EPERM|IrregularFileError)$/

/** Whether an error means that a file does not exist or cannot be read: for clients, both are a 404. */
export const isMissingFile = (error: unknown): boolean => missing.test(String((error as { code?: unknown }).code))

/**
 * The number of bytes up to which a part of a file is read in one piece: a stream takes longer than reading the file (a file of 6 KB
 * cost 244 µs through a stream, and half of that in one piece).
 *
 * @example
 * const { handle, stat } = await openRegularFile('reports/2026.pdf')
 * if (stat.size <= smallPart) console.log(await readPart(handle, 0, stat.size))
 */
export const smallPart = 65_536

/**
 * Reads a part of an open file, and closes the file.
 *
 * @throws (as a rejection) if the file has become shorter since it was measured: its length and its tag are now wrong.
 * @example
 * const { handle } = await openRegularFile('reports/2026.pdf')
 * const head = await readPart(handle, 0, 5)
 * head.toString() // '%PDF-'
 */
export async function readPart(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  try {
    // Not from the shared pool: these bytes are passed on.
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await handle.read(bytes, at, length - at, start + at)
      if (bytesRead === 0) throw new Error(`the file became shorter while it was read: ${at} of ${length} bytes`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
