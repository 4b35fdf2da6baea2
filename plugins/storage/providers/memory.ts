import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { clock } from '../../../kernel/index.ts'
import type { StorageBody, StorageEntry, StorageMetadata, StorageProvider } from './contract.ts'

/**
 * Stores objects in the memory of this process, for tests and demonstrations: behaves like the other providers, but loses
 * everything when the process ends.
 *
 * @example
 * const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
 * await storage.putObject('notes/1.txt', 'remember')
 */
export class MemoryStorageProvider implements StorageProvider {
  readonly noUrls = 'Objects in memory have no address'
  readonly downloadUrl?: NonNullable<StorageProvider['downloadUrl']>
  readonly uploadUrl?: NonNullable<StorageProvider['uploadUrl']>
  readonly publicUrl?: NonNullable<StorageProvider['publicUrl']>
  readonly #objects = new Map<string, { readonly bytes: Uint8Array; readonly metadata: StorageMetadata }>()

  /** Stands for another provider in a test: it has addresses if that one has them, which lead nowhere. @internal */
  constructor(other: StorageProvider = {} as StorageProvider, name = 'memory') {
    const at = (key: string, query: object) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined)
      return `https://${name}.invalid/${encodeURI(key)}?${new URLSearchParams(given)}`.replace(/\?$/, '')
    }
    if (other.downloadUrl) this.downloadUrl = async (key, expires, headers) => at(key, { expires, ...headers })
    if (other.uploadUrl) this.uploadUrl = async (key, expires, type) => at(key, { expires, type })
    if (other.publicUrl) this.publicUrl = async (key) => at(key, {})
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    // A copy, since the caller may change its bytes afterwards.
    const bytes = body instanceof Uint8Array ? Uint8Array.from(body) : await bytesOf(body)
    this.#keep(key, bytes, contentType)
  }

  #keep(key: string, bytes: Uint8Array, contentType: string): void {
    const metadata = {
      key,
      size: bytes.length,
      contentType,
      lastModified: new Date(clock.now()),
      etag: `"${randomUUID()}"`,
    }
    this.#objects.set(key, { bytes, metadata })
  }

  async read(key: string): Promise<Readable | undefined> {
    const kept = this.#objects.get(key)
    return kept && Readable.from(slices(kept.bytes), { objectMode: false })
  }

  async remove(key: string): Promise<void> {
    this.#objects.delete(key)
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    return this.#objects.get(key)?.metadata
  }

  async *list(prefix: string): AsyncGenerator<StorageEntry> {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort(byBytes)
    for (const key of keys) {
      const kept = this.#objects.get(key)
      if (kept === undefined) continue
      const { contentType, ...entry } = kept.metadata
      yield entry
    }
  }

  async copy(from: string, to: string): Promise<boolean> {
    const kept = this.#objects.get(from)
    if (kept !== undefined) this.#keep(to, kept.bytes, kept.metadata.contentType)
    return kept !== undefined
  }

  async ping(): Promise<void> {}
}

/** Yields copies, so that a reader that changes them does not change the object. */
function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield Uint8Array.from(bytes.subarray(at, at + 65_536))
}

export async function bytesOf(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  return plainBytes(Buffer.concat(chunks))
}

/** The same bytes as no `Buffer`, whose methods differ from those of other bytes. */
export const plainBytes = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** The order in which S3 and Blob storage list keys. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
