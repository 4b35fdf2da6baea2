import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { defineErrors } from '../../kernel/index.ts'
import { readRegularFileSync } from '../shared/files/read-file.ts'
import { openRegularFile } from '../shared/files/regular-file.ts'
import type { Stored } from './store.ts'

export const { UploadContentError } = defineErrors({
  UploadContentError: (member: string, field: string, where: string, instead: string) =>
    `${member} of the file "${field}": it is ${where}. Read ${instead}`,
})

/** An uploaded file; its content has not been inspected. */
export interface UploadedFile<Result = unknown> {
  /** The name of the form field. */
  readonly field: string
  /** The base name that the client gave, at most 255 bytes: never a path, never empty, but not unique. */
  readonly filename: string
  /** The media type that the client claims, such as `image/png`; the content may be anything. */
  readonly mimeType: string
  /** The length of the file, in bytes. */
  readonly size: number
  /** The path of the file with `storage: 'disk'`; the file is removed after the response unless it was moved. */
  readonly path: string | undefined
  /** What a custom sink returned for the file. */
  readonly result: Result
  /**
   * Returns the content, with both built-in storages. A file on disk is read each time, synchronously:
   * use `stream()` for large files.
   *
   * @throws UploadContentError for a sink, and for a file on disk that was removed.
   */
  bytes(): Uint8Array
  /** Returns a stream of the content, with both built-in storages. @throws UploadContentError for a sink. */
  stream(): Readable
  /**
   * Keeps the file: moves it to a path, replacing an existing file, and creates missing folders. Its mode is
   * 0600. Join `filename` only to a folder that contains nothing else, or choose a name of your own.
   */
  moveTo(path: string): Promise<void>
}

/** What the parser knows about a file. */
export type FileFacts = Pick<UploadedFile, 'field' | 'filename' | 'mimeType' | 'size'>

/** The implementation of {@link UploadedFile}. */
export class StoredFile implements UploadedFile {
  readonly field: string
  readonly filename: string
  readonly mimeType: string
  readonly size: number
  readonly #stored: Stored
  #path: string | undefined
  #moved = false
  #isReleased = false

  constructor({ field, filename, mimeType, size }: FileFacts, stored: Stored) {
    this.field = field
    this.filename = filename
    this.mimeType = mimeType
    this.size = size
    this.#stored = stored
    this.#path = stored.path
  }

  get path(): string | undefined {
    return this.#path
  }

  get result(): unknown {
    return this.#stored.result
  }

  bytes(): Uint8Array {
    const { bytes } = this.#stored
    if (bytes !== undefined) return bytes
    if (this.#path === undefined) throw UploadContentError('bytes()', this.field, 'in a sink', 'its result')
    try {
      return readRegularFileSync(this.#path)
    } catch (error) {
      throw this.#explained('bytes()', error)
    }
  }

  /** Explains an error: a temporary file is removed with its request. */
  #explained(member: string, error: unknown): unknown {
    if (this.#moved || (error as { code?: unknown }).code !== 'ENOENT') return error
    const gone = UploadContentError(
      member,
      this.field,
      'removed because the response to its request was sent',
      'it before',
    )
    return Object.assign(gone, { cause: error })
  }

  stream(): Readable {
    const path = this.#path
    if (path !== undefined) return fileStream(path, (error) => this.#explained('stream()', error))
    const { bytes } = this.#stored
    if (bytes === undefined) throw UploadContentError('stream()', this.field, 'in a sink', 'its result')
    return Readable.from(bytes.length === 0 ? [] : [bytes])
  }

  async moveTo(path: string): Promise<void> {
    const target = resolve(path)
    const { bytes } = this.#stored
    if (this.#path === undefined && bytes === undefined) {
      throw UploadContentError('moveTo()', this.field, 'in a sink', 'its result')
    }
    await mkdir(dirname(target), { recursive: true })
    const explain = (error: unknown) => Promise.reject(this.#explained('moveTo()', error))
    if (this.#path !== undefined) await moveFile(this.#path, target).catch(explain)
    else await writeWhole(target, (part) => writeFile(part, bytes!, { mode: 0o600, flag: 'wx' }))
    this.#path = target
    this.#moved = true
  }

  /** Releases the file, which is no longer needed. */
  async release(failed: boolean): Promise<void> {
    if (this.#moved || this.#isReleased) return
    this.#isReleased = true
    await this.#stored.release?.(failed)
  }
}

/** A stream that opens the file immediately, so that it can continue after the file is removed with the response. */
function fileStream(path: string, explained: (error: unknown) => unknown): Readable {
  const opening = openRegularFile(path).catch((error: unknown) => Promise.reject(explained(error)))
  // The stream may be read later, or never: a failure that waits for its reader would end the process.
  opening.catch(() => {})
  async function* content(): AsyncGenerator<Uint8Array> {
    const { handle } = await opening
    yield* handle.createReadStream({ autoClose: false })
  }
  const stream = Readable.from(content(), { objectMode: false })
  // A stream that no one reads has its file open as well.
  return stream.once('close', () => opening.then(({ handle }) => handle.close()).catch(() => {}))
}

async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    // The target is on another file system.
    if ((error as { code?: unknown }).code !== 'EXDEV') throw error
    await writeWhole(to, (part) => copyFile(from, part))
    await unlink(from)
  }
}

/** Writes under another name first, so that half a file is never visible. */
async function writeWhole(path: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`
  try {
    await write(part)
    await rename(part, path)
  } catch (error) {
    await unlink(part).catch(() => {})
    throw error
  }
}
