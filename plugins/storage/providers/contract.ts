import type { Readable } from 'node:stream'

/** The data of an object for a provider: bytes, or a stream of bytes that it reads to its end. */
export type StorageBody = Uint8Array | Readable

/** What a provider says of an object. */
export interface StorageEntry {
  /** The whole key: `avatars/7.png`. */
  readonly key: string
  /** The length of the content, in bytes. */
  readonly size: number
  /** When it was written last. */
  readonly lastModified: Date
  /** A string in quotes, as in a header; it changes whenever the content does. */
  readonly etag: string
}

/** The data about one object. */
export interface StorageMetadata extends StorageEntry {
  /** The media type that it was put with. */
  readonly contentType: string
}

/**
 * Stores objects: the contract of every provider, including custom ones.
 *
 * Keys were checked before: they are strings of at most 1024 bytes, without empty or dot segments. An object is visible whole
 * or not at all; one that is put again is replaced. Methods for addresses may be missing.
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
  /** Writes an object, or replaces it as a whole: a stream that fails leaves the earlier one. */
  put(key: string, body: StorageBody, contentType: string): Promise<void>
  /** A stream of bytes that fails where it ends early; `undefined` for a missing object. */
  read(key: string): Promise<Readable | undefined>
  /** All of it, where that takes less time than a stream. The caller owns the bytes. */
  readWhole?(key: string): Promise<Uint8Array | undefined>
  /** Does nothing for a missing object. */
  remove(key: string): Promise<void>
  /** What is known of an object without its content; `undefined` for an object that is not there. */
  head(key: string): Promise<StorageMetadata | undefined>
  /** Every object whose key begins with the prefix, in the order of the bytes of the keys. */
  list(prefix: string): AsyncIterable<StorageEntry>
  /** `false` for a missing object. */
  copy(from: string, to: string): Promise<boolean>
  /** Where it can be done in one step; otherwise it is a copy and a removal. */
  move?(from: string, to: string): Promise<boolean>
  /** An address that lets anyone who has it read the object, for so many seconds. */
  downloadUrl?(key: string, expirySeconds: number): Promise<string>
  /** An address that lets anyone who has it write the object by PUT, for so many seconds; of this media type where it is given. */
  uploadUrl?(key: string, expirySeconds: number, contentType: string | undefined): Promise<string>
  /** The address without a signature, for objects that anyone may read. */
  publicUrl?(key: string): Promise<string>
  /** Why there are no addresses, where a method for them is missing. */
  readonly noUrls?: string
  /** Rejects when the provider cannot be used; for health checks. */
  ping?(): Promise<void>
  /** Ends connections that the provider has opened itself. */
  close?(): Promise<void>
}
