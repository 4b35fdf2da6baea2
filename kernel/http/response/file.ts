import type { Readable } from 'node:stream'
import { wellFormed } from './headers.ts'
import type { KernelResponse } from './response-buffer.ts'

/** The options of `res.file`. */
export interface FileOptions {
  /** The folder that must contain the file, after symbolic links are resolved; `path` is then relative to it. */
  root?: string
}

/** A file that was opened for sending. */
export interface SentFile {
  /** The bytes of a small file, or a stream of no more than `size` bytes. */
  readonly body: Readable | Uint8Array
  /** The length in bytes. */
  readonly size: number
  /** The media type. */
  readonly type: string
  /** The value of `last-modified`. */
  readonly modified: string
}

/** Opens a file for sending. @throws (as a rejection) FileNotFoundError for anything that cannot be sent. */
export type SendFile = (path: string, options?: FileOptions) => Promise<SentFile>

/** Makes the file the answer, unless another answer was given before the file is open. */
export async function openFile<Res extends KernelResponse>(
  res: Res,
  path: string,
  options?: FileOptions,
): Promise<Res> {
  const file = await res.request.server.settings.sendFile(path, options)
  if (!res.answered) {
    if (res.getHeader('content-type') === undefined) res.setHeader('content-type', file.type)
    res.setHeader('content-length', file.size)
    res.setHeader('last-modified', file.modified)
  }
  return file.body instanceof Uint8Array ? res.answer('bytes', file.body) : res.answer('stream', file.body)
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
