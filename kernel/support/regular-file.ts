import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { defineError, withCause } from './errors.ts'

const IrregularFileError = defineError(
  'IrregularFileError',
  500,
  (path: string, kind: string) => `${path} is ${kind}, and a file is needed`,
)

/** A file that is open, as it was when it was opened: what is measured is what is read, however often the name changes hands. */
export interface RegularFile {
  readonly handle: FileHandle
  readonly stat: Stats
}

/**
 * Not blocking: a named pipe would keep one of the few threads for files waiting until somebody writes to it, and four of them
 * stop every file operation of the process.
 */
const unblocked = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
const unlinked = unblocked | (constants.O_NOFOLLOW ?? 0)

/**
 * Opens a file for reading; `followLink: false` for a path whose links were resolved, so that none may be there any more.
 *
 * @throws (as a rejection) IrregularFileError, whose `kind` says what is there in place of a file; what the system says.
 */
export async function openRegularFile(path: string, { followLink = true } = {}): Promise<RegularFile> {
  const handle = await open(path, followLink ? unblocked : unlinked).catch((error: unknown) => {
    throw named(path, error)
  })
  try {
    const stat = await handle.stat()
    if (stat.isFile()) return { handle, stat }
    throw irregular(path, kindOf(stat))
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The bytes of a file. @throws (as a rejection) the same. */
export async function readRegularFile(path: string): Promise<Buffer> {
  const { handle } = await openRegularFile(path)
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** The same at once. @throws also an error with the code `EFBIG` for more bytes than `limit`. */
export function readRegularFileSync(path: string, limit = Number.POSITIVE_INFINITY): Buffer {
  const descriptor = descriptorOf(path)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw irregular(path, kindOf(stat))
    if (stat.size > limit) {
      throw Object.assign(new Error(`${path} is larger than ${limit} bytes`), { code: 'EFBIG' })
    }
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function descriptorOf(path: string): number {
  try {
    return openSync(path, unblocked)
  } catch (error) {
    throw named(path, error)
  }
}

/** What is there, where it is no file. */
export function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder'
  if (stat.isFIFO()) return 'a named pipe'
  return stat.isSocket() ? 'a socket' : 'a device'
}

function irregular(path: string, kind: string): Error {
  return Object.assign(IrregularFileError(path, kind), { kind })
}

/** What cannot be opened at all because of what it is: sockets, and folders on some systems. */
function named(path: string, error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (code === 'ENXIO') return withCause(irregular(path, 'a socket'), error)
  return code === 'EISDIR' ? withCause(irregular(path, 'a folder'), error) : error
}
