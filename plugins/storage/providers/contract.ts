import type { Readable } from 'node:stream'

/** The data of an object for a provider: bytes, or a stream of bytes that it reads to its end. */
export type StorageBody = Uint8Array | Readable

/** An object in a list. */
export interface StorageEntry {
  readonly key: string
  /** In bytes. */
  readonly size: number
  readonly lastModified: Date
  /** In quotes, as in a header; it changes whenever the content does. */
  readonly etag: string
}

/** The data about one object. */
export interface StorageMetadata extends StorageEntry {
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
  put(key: string, body: StorageBody, contentType: string): Promise<void>
  /** A stream of bytes that fails where it ends early; `undefined` for a missing object. */
  read(key: string): Promise<Readable | undefined>
  /** All of it, where that takes less time than a stream. The caller owns the bytes. */
  readWhole?(key: string): Promise<Uint8Array | undefined>
  /** Does nothing for a missing object. */
  remove(key: string): Promise<void>
  head(key: string): Promise<StorageMetadata | undefined>
  /** Every object whose key begins with the prefix, in the order of the bytes of the keys. */
  list(prefix: string): AsyncIterable<StorageEntry>
  /** `false` for a missing object. */
  copy(from: string, to: string): Promise<boolean>
  /** Where it can be done in one step; otherwise it is a copy and a removal. */
  move?(from: string, to: string): Promise<boolean>
  downloadUrl?(key: string, expirySeconds: number): Promise<string>
  uploadUrl?(key: string, expirySeconds: number, contentType: string | undefined): Promise<string>
  publicUrl?(key: string): Promise<string>
  /** Why there are no addresses, where a method for them is missing. */
  readonly noUrls?: string
  /** Rejects when the provider cannot be used; for health checks. */
  ping?(): Promise<void>
  close?(): Promise<void>
}
