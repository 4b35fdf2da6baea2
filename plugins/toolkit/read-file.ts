import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { openingFailure, openRegularFile, regularOnly, unblocked } from '../../kernel/support/regular-file.ts'

/** The bytes of a file. @throws (as a rejection) as `openRegularFile` does. */
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
    if (regularOnly(path, fstatSync(descriptor)).size > limit) {
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
    throw openingFailure(path, error)
  }
}

/**
 * Up to this many bytes a part of a file is read in one go: a stream takes longer than the file (a file of 6 KB cost 244 µs
 * by one, and half of that in one piece).
 */
export const smallPart = 65_536

/**
 * Reads a part of an open file, and closes it.
 *
 * @throws (as a rejection) where the file has become shorter since it was measured: its length and its tag are wrong now.
 */
export async function readPart(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  try {
    // Not of the pool: its bytes are handed to others.
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await handle.read(bytes, at, length - at, start + at)
      if (bytesRead === 0) throw new Error(`the file has become shorter while it was read: ${at} of ${length} bytes`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
