import { randomUUID } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { access, lstat, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { readPart, smallPart } from '../../../kernel/index.ts'
import { option } from '../../toolkit/options/index.ts'
import type { StorageBody, StorageEntry, StorageMetadata, StorageProvider } from './contract.ts'
import { type OpenFile, openFile, writeFile } from './local-file.ts'
import { isMissing, LocalRoot, ownFolder, refusal, segmentsOf, taken } from './local-paths.ts'
import { LocalTypes, versionOf } from './local-types.ts'
import { byBytes } from './memory.ts'
import { SignedUrls, type SignedUrlsOptions, signedUrlsOptions } from './signed-urls.ts'

/** Options of `LocalStorageProvider`. */
export interface LocalStorageOptions {
  /** The folder for the objects; created if it is missing. */
  root: string | URL
  /** Settings for signed addresses of objects, which the storage plugin answers. Without this option there are none. */
  signedUrls?: SignedUrlsOptions
}

const root = option.custom<string | URL, string>('the path of a folder', (given, place) => {
  const path = given instanceof URL && given.protocol === 'file:' ? fileURLToPath(given) : given
  if (typeof path === 'string' && path !== '') return path
  return void place.wrong(given, 'the path of a folder')
})

const localOptions = option
  .shape({ root: root.required(), signedUrls: signedUrlsOptions.optional() })
  .typed<LocalStorageOptions>()

/** A file that was not written to for this many milliseconds has lost its writer. */
const lost = 3_600_000

/**
 * Stores objects as files below a folder: the key is the path, the file is the content.
 *
 * A file is written elsewhere and then renamed, so that a crash leaves the old one or the new one. No key leads out of the folder,
 * or through a symbolic link.
 *
 * @throws OptionError.
 * @example
 * const storage = new Storage({ files: new LocalStorageProvider({ root: '/tmp/files' }) }, { defaultProvider: 'files' })
 * await storage.putObject('invoices/2026/1.txt', 'paid')
 */
export class LocalStorageProvider implements StorageProvider {
  readonly #root: LocalRoot
  readonly #types: LocalTypes
  /** @internal The absolute path, which `framework doctor` looks for in the image. */
  readonly folder: string
  #swept = Number.NEGATIVE_INFINITY
  /** @internal Makes and checks its addresses. */
  readonly urls: SignedUrls | undefined
  readonly noUrls = 'Files on a disk have an address only with the option signedUrls'
  /** Returns a signed address of the server, valid for this many seconds; only with the option `signedUrls`. */
  declare readonly downloadUrl?: StorageProvider['downloadUrl'] & {}
  /** Returns a signed address for PUT, valid for this many seconds; only with the option `signedUrls`. */
  declare readonly uploadUrl?: StorageProvider['uploadUrl'] & {}

  constructor(options: LocalStorageOptions) {
    const { root, signedUrls } = localOptions.parse(options, 'LocalStorageProvider')
    this.folder = resolve(root)
    this.#root = new LocalRoot(this.folder)
    this.#types = new LocalTypes(this.#root)
    if (signedUrls === undefined) return
    const urls = new SignedUrls(signedUrls)
    this.urls = urls
    this.downloadUrl = async (key, seconds) => urls.make('GET', key, seconds, undefined)
    this.uploadUrl = async (key, seconds, type) => urls.make('PUT', key, seconds, type)
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    segmentsOf(key)
    const folder = await this.#named(this.#root.own('tmp'))
    this.#sweep(folder)
    const temporary = join(folder, randomUUID())
    try {
      const stats = await this.#named(writeFile(temporary, body))
      await this.#typed(key, stats, contentType, () => this.#publish(temporary, key))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
  }

  /** Makes a file visible, with its content type. */
  async #typed(key: string, stats: BigIntStats, type: string, publish: () => Promise<void>): Promise<void> {
    try {
      await this.#named(this.#types.write(key, stats, type))
      await this.#named(publish())
    } catch (error) {
      await this.#types.remove(key, stats)
      throw error
    }
    await this.#types.clean(key, stats)
  }

  async #publish(temporary: string, key: string): Promise<void> {
    // Another process that removes the last object of a folder also removes the folder.
    for (let attempt = 1; ; attempt++) {
      try {
        const path = await this.#root.prepare(key)
        return await rename(temporary, path)
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENOTEMPTY' || code === 'EEXIST')
          throw taken(key, error)
        if (code !== 'ENOENT' || attempt === 5) throw error
      }
    }
  }

  /** Removes files of processes that died while writing. */
  #sweep(folder: string): void {
    if (performance.now() - this.#swept < lost) return
    this.#swept = performance.now()
    void (async () => {
      for (const name of await readdir(folder)) {
        const file = join(folder, name)
        if (Date.now() - (await stat(file)).mtimeMs > lost) await rm(file, { force: true })
      }
    })().catch(() => {})
  }

  #open(key: string): Promise<OpenFile | undefined> {
    return this.#named(openFile(this.#root, key))
  }

  async read(key: string): Promise<Readable | undefined> {
    const found = await this.#open(key)
    return found && content(found)
  }

  async readWhole(key: string): Promise<Uint8Array | undefined> {
    const found = await this.#open(key)
    if (found === undefined) return undefined
    const { buffer, byteOffset, byteLength } = await readPart(found.handle, 0, Number(found.stats.size))
    return new Uint8Array(buffer, byteOffset, byteLength)
  }

  /** @internal The open file of a key, for the route that answers its address. */
  async file(key: string): Promise<(OpenFile & { readonly contentType: string }) | undefined> {
    const found = await this.#open(key)
    if (found === undefined) return undefined
    return { ...found, contentType: await this.#types.read(key, found.stats) }
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    const found = await this.#open(key)
    if (found === undefined) return undefined
    await found.handle.close()
    return { ...entryOf(key, found.stats), contentType: await this.#types.read(key, found.stats) }
  }

  async remove(key: string): Promise<void> {
    try {
      const path = await this.#root.locate(key)
      const stats = await lstat(path, { bigint: true })
      if (stats.isDirectory()) return
      // If it is a symbolic link, this removes the link.
      await unlink(path)
      await this.#left(key, stats)
    } catch (error) {
      if (!isMissing(error)) throw refusal(this.folder, error)
    }
  }

  /** Removes what is left of an object that is gone. */
  async #left(key: string, stats: BigIntStats): Promise<void> {
    await this.#types.remove(key, stats)
    await this.#types.clean(key)
    await this.#root.prune(key)
  }

  async *list(prefix: string): AsyncGenerator<StorageEntry> {
    const root = await this.#named(this.#root.path())
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    for await (const [key, path] of this.#walk(root, folder, prefix)) {
      const stats = await lstat(path, { bigint: true }).catch(() => undefined)
      if (stats?.isFile()) yield entryOf(key, stats)
    }
  }

  async *#walk(root: string, folder: string, prefix: string): AsyncGenerator<readonly [key: string, path: string]> {
    const path = join(root, folder)
    let entries: readonly (readonly [key: string, isFolder: boolean])[]
    try {
      if (folder !== '' && join(await realpath(path), '/') !== path) return
      const found = await readdir(path, { withFileTypes: true })
      const isOwn = (name: string) => folder === '' && name.toLowerCase() === ownFolder
      // Another program's file cannot be requested if its name is not a valid key.
      entries = found
        .filter((entry) => (entry.isFile() || entry.isDirectory()) && !isOwn(entry.name))
        .map((entry) => [`${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`, entry.isDirectory()] as const)
        .sort(([a], [b]) => byBytes(a, b))
    } catch (error) {
      if (isMissing(error)) return
      throw refusal(this.folder, error)
    }
    for (const [key, isFolder] of entries) {
      if (isFolder && (key.startsWith(prefix) || prefix.startsWith(key))) yield* this.#walk(root, key, prefix)
      else if (!isFolder && key.startsWith(prefix)) yield [key, join(root, key)]
    }
  }

  async copy(from: string, to: string): Promise<boolean> {
    const found = await this.#open(from)
    if (found === undefined) return false
    // The type of the open file, in case another one is put meanwhile.
    const type = await this.#types.read(from, found.stats)
    const stream = await content(found)
    try {
      await this.put(to, stream, type)
    } finally {
      stream.destroy()
    }
    return true
  }

  async move(from: string, to: string): Promise<boolean> {
    const found = await this.#open(from)
    if (found === undefined) return false
    const { handle, stats, path } = found
    await handle.close()
    await this.#typed(to, stats, await this.#types.read(from, stats), () => this.#publish(path, to))
    await this.#left(from, stats)
    return true
  }

  async ping(): Promise<void> {
    await this.#named(this.#root.own('tmp').then((folder) => access(folder, constants.W_OK)))
  }

  async #named<Value>(work: Promise<Value>): Promise<Value> {
    try {
      return await work
    } catch (error) {
      throw refusal(this.folder, error)
    }
  }
}

async function content({ handle, stats }: OpenFile): Promise<Readable> {
  const size = Number(stats.size)
  if (size > smallPart) return handle.createReadStream({ start: 0, end: size - 1 })
  const bytes = await readPart(handle, 0, size)
  return Readable.from(size > 0 ? [bytes] : [], { objectMode: false })
}

function entryOf(key: string, stats: BigIntStats): StorageEntry {
  const lastModified = new Date(Number(stats.mtimeMs))
  return { key, size: Number(stats.size), lastModified, etag: `"${versionOf(stats)}"` }
}
