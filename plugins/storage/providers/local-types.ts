import { createHash, randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../kernel/index.ts'
import { openInside } from '../../shared/files/open-inside.ts'
import { mediaTypeOfFile } from '../../shared/http/media-types.ts'
import { isMissing, type LocalRoot, ownFolder, using } from './local-paths.ts'

/** The version of a key's file: it changes whenever the object is put again. */
export const versionOf = ({ mtimeNs, size }: BigIntStats): string => `${mtimeNs.toString(36)}-${size.toString(36)}`

/**
 * The same for a single file: files of equal size written within one tick of the file system, some milliseconds, have the same time, but
 * two that exist together have different inode numbers.
 */
const nameOf = (stats: BigIntStats) => `${versionOf(stats)}-${stats.ino.toString(36)}`

/** Files that another writer may be about to use are kept for this many milliseconds. */
const settled = 60_000

/** Removes the files of a folder that were not written to for this many milliseconds, except for one. */
export async function removeOld(folder: string, ms: number, kept?: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    if (name !== kept && systemClock.now() - (await lstat(file)).mtimeMs > ms) await rm(file, { force: true })
  }
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

/**
 * Content types that the names of files do not show.
 *
 * Each is stored in a file named after one version of the object, so that no reader ever mistakes the type of another version
 * for the right one, however many processes put the same key.
 */
export class LocalTypes {
  readonly #root: LocalRoot

  constructor(root: LocalRoot) {
    this.#root = root
  }

  /** Does something in the folder of a key; fails if it is missing. */
  async #inFolder<Result>(key: string, work: (at: string) => Promise<Result>): Promise<Result> {
    return using(await this.#root.open([ownFolder, 'types', hashOf(key)], key), work)
  }

  /** @throws the error of the system if a type may be there and cannot be read. */
  async read(key: string, stats: BigIntStats): Promise<string> {
    try {
      const name = await this.#inFolder(key, (at) => this.#nameIn(at, stats))
      const path = join(await this.#root.path(), ownFolder, 'types', hashOf(key), name)
      const { handle } = (await openInside(path, path))!
      try {
        return await handle.readFile('utf8')
      } finally {
        await handle.close()
      }
    } catch (error) {
      // The type of its name could be one that the object must not have: HTML that was stored as bytes.
      if (isMissing(error) || typeof (error as { syscall?: unknown }).syscall !== 'string') return mediaTypeOfFile(key)
      throw error
    }
  }

  /** Finds the name by version alone, if need be: files restored from a backup have other inode numbers. */
  async #nameIn(folder: string, stats: BigIntStats): Promise<string> {
    const names = await readdir(folder)
    const name = nameOf(stats)
    return names.includes(name) ? name : (names.find((one) => one.startsWith(`${versionOf(stats)}-`)) ?? name)
  }

  /** Writes the type; called before the object becomes visible. */
  async write(key: string, stats: BigIntStats, type: string): Promise<void> {
    if (type === mediaTypeOfFile(key)) return
    await using(await this.#root.own('tmp'), async (tmp) => {
      const temporary = join(tmp, randomUUID())
      await writeFile(temporary, type, { flag: 'wx' })
      await using(await this.#root.own('types', hashOf(key)), (at) => rename(temporary, join(at, nameOf(stats))))
    })
  }

  /** Removes the type of one version, which is gone or was never completed. */
  async remove(key: string, stats: BigIntStats): Promise<void> {
    await this.#tidy(key, (at) => rm(join(at, nameOf(stats)), { force: true }))
  }

  /** Removes the types of older versions of the object; `stats` is the status of the present one. */
  clean(key: string, stats?: BigIntStats): Promise<void> {
    return this.#tidy(key, (at) => removeOld(at, settled, stats && nameOf(stats)))
  }

  /** Does something in the folder of a key, and removes the folder. */
  async #tidy(key: string, work: (at: string) => Promise<void>): Promise<void> {
    try {
      await this.#inFolder(key, work)
      await using(await this.#root.open([ownFolder, 'types'], key), (at) => rmdir(join(at, hashOf(key))))
    } catch {
      // It is missing, or not empty.
    }
  }
}
