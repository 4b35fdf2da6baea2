import { randomUUID } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { access, lstat, readdir, rename, rm, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { readPart, smallPart } from '../../shared/files/regular-file.ts'
import { mediaTypeOfFile } from '../../shared/http/media-types.ts'
import { option } from '../../shared/options/index.ts'
import { sweeping } from '../../shared/stores/tables.ts'
import { StorageKeyError } from '../errors.ts'
import type { StorageBody, StorageEntry, StorageMetadata, StorageProvider } from './contract.ts'
import {
  isMissing,
  LocalRoot,
  type OpenFile,
  openFile,
  ownFolder,
  refusal,
  segmentsOf,
  taken,
  using,
  writeBody,
} from './local-paths.ts'
import { LocalTypes, removeOld, versionOf } from './local-types.ts'
import { byBytes, plainBytes } from './memory.ts'
import { type SignedUrls, type SignedUrlsOptions, signedUrlsOf, signedUrlsOptions } from './signed-urls.ts'

/** Options of `LocalStorageProvider`. */
export interface LocalStorageOptions {
  /** The folder for the objects; created if it is missing. */
  root: string | URL
  /** Settings for signed addresses of objects, which the storage plugin serves. Without this option there are none. */
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
/** How many objects are measured before they are listed. */
const listedAtOnce = 100

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
  /** Removes files of processes that died while writing. */
  readonly #sweep = sweeping(async () => using(await this.#root.own('tmp'), (tmp) => removeOld(tmp, lost)), lost)
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
    const urls = signedUrlsOf(signedUrls)
    this.urls = urls
    this.downloadUrl = async (key, seconds, headers) => urls.make('GET', key, seconds, headers)
    this.uploadUrl = async (key, seconds, type) => urls.make('PUT', key, seconds, { contentType: type })
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    segmentsOf(key)
    this.#sweep()
    await using(await this.#named(this.#root.own('tmp')), async (tmp) => {
      const temporary = join(tmp, randomUUID())
      try {
        const stats = await this.#named(writeBody(temporary, body))
        await this.#typed(key, stats, contentType, () => this.#publish(temporary, key))
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {})
        throw error
      }
    })
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
    // Without a type of its own, those of older versions stay until it is removed: looking for them takes as long as the renaming.
    if (type !== mediaTypeOfFile(key)) await this.#types.clean(key, stats)
  }

  async #publish(temporary: string, key: string): Promise<void> {
    // Another process that removes the last object of a folder also removes the folder.
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#root.inFolderOf(key, (path) => rename(temporary, path), true)
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENOTEMPTY' || code === 'EEXIST')
          throw taken(key, error)
        if (code !== 'ENOENT' || attempt === 5) throw error
      }
    }
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
    return found && plainBytes(await readPart(found.handle, 0, Number(found.stats.size)))
  }

  /** @internal The open file of a key, for the route that serves its address. */
  async file(key: string): Promise<(OpenFile & { readonly contentType: string }) | undefined> {
    const found = await this.#open(key)
    if (found === undefined) return undefined
    try {
      return { ...found, contentType: await this.#named(this.#types.read(key, found.stats)) }
    } catch (error) {
      await found.handle.close()
      throw error
    }
  }

  async head(key: string): Promise<StorageMetadata | undefined> {
    const found = await this.file(key)
    await found?.handle.close()
    return found && { ...entryOf(key, found.stats), contentType: found.contentType }
  }

  async remove(key: string): Promise<void> {
    try {
      const stats = await this.#root.inFolderOf(key, async (path) => {
        const found = await lstat(path, { bigint: true })
        // If it is a symbolic link, this removes the link.
        if (!found.isDirectory()) await unlink(path)
        return found
      })
      if (!stats.isDirectory()) await this.#left(key, stats)
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

  list(prefix: string): AsyncGenerator<StorageEntry> {
    return this.#walk(prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix)
  }

  async *#walk(folder: string, prefix: string): AsyncGenerator<StorageEntry> {
    const isOwn = (name: string) => folder === '' && name.toLowerCase() === ownFolder
    const entries = await this.#listed(folder, async (at) =>
      // Another program's file cannot be requested if its name is not a valid key.
      (await readdir(at, { withFileTypes: true }))
        .filter((entry) => (entry.isFile() || entry.isDirectory()) && !isOwn(entry.name))
        .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
        .filter((key) => key.startsWith(prefix) || (key.endsWith('/') && prefix.startsWith(key)))
        .sort(byBytes),
    )
    // The folder is not open while the caller works: a list that is left early would keep it open.
    for (let i = 0; i < entries.length; i += listedAtOnce) {
      const keys = entries.slice(i, i + listedAtOnce)
      const stats = await this.#listed(folder, (at) =>
        Promise.all(
          keys.map((key) => lstat(join(at, key.slice(folder.length)), { bigint: true }).catch(() => undefined)),
        ),
      )
      for (const [index, key] of keys.entries()) {
        const found = stats[index]
        if (key.endsWith('/')) yield* this.#walk(key, prefix)
        else if (found?.isFile()) yield entryOf(key, found)
      }
    }
  }

  /** Looks into a folder; returns nothing for one that is missing, or is the provider's own or a symbolic link. */
  async #listed<Entry>(folder: string, look: (at: string) => Promise<Entry[]>): Promise<Entry[]> {
    const segments = folder.split('/').slice(0, -1)
    if (segments[0]?.toLowerCase() === ownFolder) return []
    try {
      return await using(await this.#root.open(segments, folder), look)
    } catch (error) {
      if (isMissing(error) || (error as { code?: unknown }).code === StorageKeyError.code) return []
      throw refusal(this.folder, error)
    }
  }

  async copy(from: string, to: string): Promise<boolean> {
    // With the type of the open file, in case another one is put meanwhile.
    const found = await this.file(from)
    if (found === undefined) return false
    const stream = await content(found)
    try {
      await this.put(to, stream, found.contentType)
    } finally {
      stream.destroy()
    }
    return true
  }

  async move(from: string, to: string): Promise<boolean> {
    const found = await this.file(from)
    if (found === undefined) return false
    const { handle, stats, contentType } = found
    await handle.close()
    const publish = () => this.#root.inFolderOf(from, (path) => this.#publish(path, to))
    await this.#typed(to, stats, contentType, publish)
    await this.#left(from, stats)
    return true
  }

  async ping(): Promise<void> {
    const check = async () => {
      await (await this.#root.own('tmp')).close()
      // By its name: Deno judges the link to an open folder, which nothing can be written to.
      await access(join(await this.#root.path(), ownFolder, 'tmp'), constants.W_OK)
    }
    await this.#named(check())
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

/** What `list` returns for a file. */
export function entryOf(key: string, stats: BigIntStats): StorageEntry {
  return { key, size: Number(stats.size), lastModified: new Date(Number(stats.mtimeMs)), etag: `"${versionOf(stats)}"` }
}
