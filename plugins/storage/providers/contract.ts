import type { Readable } from 'node:stream'

/** What a provider is given to keep: bytes, or a stream of bytes that it reads to its end. */
export type StorageBody = Uint8Array | Readable

/** What a provider says of an object. */
export interface StorageEntry {
  /** The whole key: `avatars/7.png`. */
  readonly key: string
  /** The length of the content, in bytes. */
  readonly size: number
  /** When it was written last. */
  readonly lastModified: Date
  /** A string in quotes, as a header has it; another one whenever the content is another. */
  readonly etag: string
}

/** What is known of one object. */
export interface StorageMetadata extends StorageEntry {
  /** The media type that it was put with. */
  readonly contentType: string
}

/**
 * Where objects are kept: the contract of every provider, of your own too.
 *
 * Keys were checked before: they are text of at most 1024 bytes, without empty or dot segments. An object is visible whole
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
  /** A stream of bytes that fails where it ends early; `undefined` for an object that is not there. */
  read(key: string): Promise<Readable | undefined>
  /** All of it, where that takes less than a stream. The bytes are those of the caller. */
  readWhole?(key: string): Promise<Uint8Array | undefined>
  /** Nothing happens for an object that is not there. */
  remove(key: string): Promise<void>
  /** What is known of an object without its content; `undefined` for an object that is not there. */
  head(key: string): Promise<StorageMetadata | undefined>
  /** Every object whose key begins with the prefix, in the order of the bytes of the keys. */
  list(prefix: string): AsyncIterable<StorageEntry>
  /** `false` when there is nothing to copy. */
  copy(from: string, to: string): Promise<boolean>
  /** Where it can be done in one step; else it is a copy and a removal. */
  move?(from: string, to: string): Promise<boolean>
  /** An address that lets anyone who has it read the object, for so many seconds. */
  downloadUrl?(key: string, expirySeconds: number): Promise<string>
  /** An address that lets anyone who has it write the object by PUT, for so many seconds; of this media type where it is given. */
  uploadUrl?(key: string, expirySeconds: number, contentType: string | undefined): Promise<string>
  /** The address without a signature, for objects that anyone may read. */
  publicUrl?(key: string): Promise<string>
  /** Why an address cannot be had, where a method for it is missing. */
  readonly noUrls?: string
  /** Rejects when the provider cannot be used; for health checks. */
  ping?(): Promise<void>
  /** Ends connections that the provider has opened itself. */
  close?(): Promise<void>
}
