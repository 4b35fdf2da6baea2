import type { Readable } from 'node:stream'

/** The data of an object for a provider: bytes, or a stream of bytes that it reads to its end. */
export type StorageBody = Uint8Array | Readable

/** What a provider reports about an object. */
export interface StorageEntry {
  /** The whole key: `avatars/7.png`. */
  readonly key: string
  /** The length of the content, in bytes. */
  readonly size: number
  /** When it was last written. */
  readonly lastModified: Date
  /** A string in quotes, as in a header; it changes whenever the content does. */
  readonly etag: string
}

/** The data about one object. */
export interface StorageMetadata extends StorageEntry {
  /** The media type with which it was put. */
  readonly contentType: string
}

/** The headers that the response of a download address has in place of the usual ones. */
export interface StorageDownloadHeaders {
  /** A valid `content-disposition`, in ASCII. */
  readonly contentDisposition?: string | undefined
  /** A valid media type. */
  readonly contentType?: string | undefined
}

/**
 * Stores objects: the contract of every provider, including custom ones.
 *
 * Keys have already been checked: they are strings of at most 1024 bytes, without empty or dot segments. An object is visible whole
 * or not at all; putting it again replaces it. Methods for addresses may be missing.
 *
 * @example
 * const objects = new Map<string, Uint8Array>()
 * const own: Pick<StorageProvider, 'put' | 'remove'> = {
 *   async put(key, body) {
 *     const chunks: Uint8Array[] = []
 *     if (body instanceof Uint8Array) chunks.push(body)
 *     else for await (const chunk of body) chunks.push(chunk)
 *     objects.set(key, Buffer.concat(chunks))
 *   },
 *   async remove(key) {
 *     objects.delete(key)
 *   },
 * }
 */
export interface StorageProvider {
  /** Where the objects are, for people and without credentials, if that is outside of the process: `the bucket "reports" of S3`. */
  readonly where?: string
  /** Writes an object, or replaces it as a whole: a stream that fails leaves the earlier one. */
  put(key: string, body: StorageBody, contentType: string): Promise<void>
  /** Returns a stream of bytes, which fails if it ends early; `undefined` for a missing object. */
  read(key: string): Promise<Readable | undefined>
  /** Returns all bytes, if that takes less time than a stream. The caller owns them. */
  readWhole?(key: string): Promise<Uint8Array | undefined>
  /** Removes an object; does nothing for a missing one. */
  remove(key: string): Promise<void>
  /** Returns the metadata of an object without its content; `undefined` for a missing object. */
  head(key: string): Promise<StorageMetadata | undefined>
  /** Lists every object whose key begins with the prefix, ordered by the bytes of the keys. */
  list(prefix: string): AsyncIterable<StorageEntry>
  /** Copies an object with its content type; returns `false` for a missing object. */
  copy(from: string, to: string): Promise<boolean>
  /** Moves an object, if the provider can do it in one step; without this method, it is copied and removed. */
  move?(from: string, to: string): Promise<boolean>
  /** Returns an address that lets anyone who has it read the object, for this many seconds; the response has these headers. */
  downloadUrl?(key: string, expirySeconds: number, headers: StorageDownloadHeaders): Promise<string>
  /** Returns an address that lets anyone who has it write the object with PUT, for this many seconds; of this media type, if given. */
  uploadUrl?(key: string, expirySeconds: number, contentType: string | undefined): Promise<string>
  /** Returns the address without a signature, for objects that anyone may read. */
  publicUrl?(key: string): Promise<string>
  /** Why there are no addresses, if a method for them is missing. */
  readonly noUrls?: string
  /** Rejects when the provider cannot be used; for health checks. */
  ping?(): Promise<void>
  /** Closes connections that the provider has opened itself. */
  close?(): Promise<void>
}
