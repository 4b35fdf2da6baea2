import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { unlessAborted } from '../shared/values/promises.ts'

/** A file that is arriving. */
export interface UploadSource {
  /** The name of the form field. */
  readonly field: string
  /** The base name that the client gave: never a path, but not unique, and otherwise unchecked. */
  readonly filename: string
  /** The media type that the client claims; it has not been checked. */
  readonly mimeType: string
  /** The bytes, with backpressure; fails when the upload does. */
  readonly stream: Readable
  /** Aborts when the upload fails: a limit, a malformed form, a client that leaves. */
  readonly signal: AbortSignal
}

/**
 * A custom destination of uploaded files.
 *
 * @example
 * const bucket: UploadSink<{ key: string }> = {
 *   async write(file) {
 *     const key = crypto.randomUUID()
 *     for await (const chunk of file.stream) console.log(`${key}: ${chunk.length} bytes`)
 *     return { key }
 *   },
 *   discard: ({ key }) => console.log(`${key} is not wanted any more`),
 * }
 */
export interface UploadSink<Result = unknown> {
  /** Stores one file and returns the file's `result`. If it fails, so does the request. */
  write(file: UploadSource): Promise<Result> | Result
  /** Removes a file again if its request gets a status of 400 or above. */
  discard?(result: Result): Promise<void> | void
}

/** The result of a store for a file. */
export interface Stored {
  /** The content, if it is kept in memory. */
  readonly bytes?: Uint8Array
  /** The path of the temporary file, if it is kept on disk. */
  readonly path?: string
  /** The result of a sink. */
  readonly result?: unknown
  /** Called once, when the file is no longer needed; `failed`: whether the request failed. Never rejects. */
  release?(failed: boolean): Promise<void>
}

/** The bytes of a file, to be read once: piece by piece with backpressure, or all at once. */
export interface FileContent extends AsyncIterable<Uint8Array> {
  each(take: (piece: Uint8Array) => void): Promise<void>
}

/** The argument of a store: a file that is arriving, before it becomes a stream. */
interface StoreSource extends Omit<UploadSource, 'stream'> {
  readonly content: FileContent
}

/** The destination of files. `write` settles soon after the signal aborts, and then stores nothing. */
export interface Store {
  write(source: StoreSource): Promise<Stored>
  /** Removes remaining files when the server closes. */
  close?(): Promise<void>
}

/** Keeps files in memory. */
export const memoryStore: Store = {
  async write({ content }) {
    const chunks: Uint8Array[] = []
    await content.each((chunk) => chunks.push(chunk))
    return { bytes: Buffer.concat(chunks) }
  },
}

/** Runs a sink of the application; `warn` receives files that could not be discarded. */
export function sinkStore(sink: UploadSink, warn: (error: unknown) => void): Store {
  const discard = async (result: unknown) => {
    try {
      await sink.discard?.(result)
    } catch (error) {
      warn(error)
    }
  }
  return {
    async write({ content, ...facts }: StoreSource): Promise<Stored> {
      const stream = Readable.from(content, { objectMode: false })
      // If a sink stops reading early, the stream fails, which is not an error; a sink that fails reports that itself.
      stream.on('error', () => {})
      const writing = (async () => sink.write({ ...facts, stream }))()
      // A sink that ignores the signal must not delay the response.
      const written = unlessAborted(writing, facts.signal, () => {
        writing.then(discard, () => {})
        throw facts.signal.reason
      })
      const result = await written.finally(() => stream.destroy())
      const release = async (failed: boolean) => {
        // Not awaited: the client gets its response however long this takes.
        if (failed) void discard(result)
      }
      return { result, release }
    },
  }
}

/**
 * Stores files in a temporary folder that only this user can read, under names that can neither be guessed nor chosen.
 *
 * The folder is created for the first file, and created again if it was removed.
 */
export function diskStore(base: string): Store {
  let folder: Promise<string> | undefined
  let isClosed = false

  const create = async (retry = true): Promise<{ path: string; handle: FileHandle }> => {
    if (isClosed) throw new Error('a file was uploaded while the server closed')
    // mkdtemp creates the folder with mode 0700.
    folder ??= mkdtemp(join(base, 'framework-upload-'))
    const mine = folder
    try {
      const path = join(await mine, randomBytes(16).toString('hex'))
      return { path, handle: await open(path, 'wx', 0o600) }
    } catch (error) {
      // A failure must not affect every later file.
      if (folder === mine) folder = undefined
      if (!retry || (error as { code?: unknown }).code !== 'ENOENT') throw error
      return create(false)
    }
  }

  return {
    async write({ content }) {
      const { path, handle } = await create()
      const remove = () => unlink(path).catch(() => {})
      try {
        await writeFile(handle, content).finally(() => handle.close())
      } catch (error) {
        await remove()
        throw error
      }
      return { path, release: remove }
    },
    async close() {
      isClosed = true
      const last = folder
      folder = undefined
      if (last !== undefined) await rm(await last, { recursive: true, force: true })
    },
  }
}
