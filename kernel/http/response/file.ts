import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { FileNotFoundError, withCause } from '../../support/errors.ts'
import { openRegularFile, readPart, smallPart } from '../../support/regular-file.ts'
import { wellFormed } from './headers.ts'
import { mediaTypeOfFile } from './media-types.ts'
import type { KernelResponse } from './response-buffer.ts'

/** The options of `res.file`. */
export interface FileOptions {
  /** The folder that must contain the file, after symbolic links are resolved; `path` is then relative to it. */
  root?: string
}

interface FileBody {
  body: Readable | Uint8Array
  size: number
  type: string
  modified: string
}

/** Error codes for a file that does not exist or cannot be read; the answer never shows the path. */
const missing = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
  'ELOOP',
  'EACCES',
  'EPERM',
  // A folder, a pipe, a device.
  'IrregularFileError',
])

/** Makes the file the answer, unless another answer was given before the file is open. */
export async function openFile<Res extends KernelResponse>(
  res: Res,
  path: string,
  options?: FileOptions,
): Promise<Res> {
  const file = await fileBody(path, options)
  if (!res.answered) {
    if (res.getHeader('content-type') === undefined) res.setHeader('content-type', file.type)
    res.setHeader('content-length', file.size)
    res.setHeader('last-modified', file.modified)
  }
  return file.body instanceof Uint8Array ? res.answer('bytes', file.body) : res.answer('stream', file.body)
}

/** Opens a file for sending, and measures the opened file: if the path is replaced in between, the length still matches. */
async function fileBody(path: string, options: FileOptions = {}): Promise<FileBody> {
  try {
    const full = options.root === undefined ? path : await insideRoot(options.root, path)
    const { handle, stat } = await openRegularFile(full, { followLink: options.root === undefined })
    const { size } = stat
    // Limited to the declared length, so that a growing file cannot exceed it.
    const body =
      size <= smallPart ? await readPart(handle, 0, size) : handle.createReadStream({ start: 0, end: size - 1 })
    return { body, size, type: mediaTypeOfFile(full), modified: stat.mtime.toUTCString() }
  } catch (error) {
    if (missing.has(String((error as { code?: unknown }).code))) throw withCause(FileNotFoundError(), error)
    throw error
  }
}

async function insideRoot(root: string, path: string): Promise<string> {
  const base = await realpath(root)
  const full = await realpath(resolve(base, `.${sep}${path}`))
  if (!full.startsWith(base + sep)) throw FileNotFoundError()
  return full
}

/** `attachment` with an ASCII fallback and the exact name (RFC 6266 section 4.3, RFC 8187). */
export function dispositionOf(name: string): string {
  const fallback = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(wellFormed(name)).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${fallback}"${fallback === name ? '' : `; filename*=UTF-8''${exact}`}`
}
