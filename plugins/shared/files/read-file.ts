import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { openingFailure, openRegularFile, regularOnly, unblocked } from './regular-file.ts'

/**
 * Reads the bytes of a file. @throws (as a rejection) as `openRegularFile` does.
 *
 * @example
 * const page = await readRegularFile('pages/index.html')
 */
export async function readRegularFile(path: string): Promise<Buffer> {
  const { handle } = await openRegularFile(path)
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/**
 * Reads the bytes of a file synchronously. @throws also an error with the code `EFBIG` for more bytes than `limit`.
 *
 * @example
 * const key = readRegularFileSync('keys/server.pem', 65_536)
 */
export function readRegularFileSync(path: string, limit = Number.POSITIVE_INFINITY): Buffer {
  const descriptor = descriptorOf(path)
  try {
    if (regularOnly(path, fstatSync(descriptor)).size > limit)
      throw Object.assign(new Error(`${path} is larger than ${limit} bytes`), { code: 'EFBIG' })
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
