import { createHash, randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { access, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegularFile } from '../../toolkit/read-file.ts'
import { typeOfKey } from '../data.ts'
import { type LocalRoot, ownFolder } from './local-paths.ts'

/** The version of a key's file: it changes whenever the object is put again. */
export function versionOf({ mtimeNs, size }: BigIntStats): string {
  return `${mtimeNs.toString(36)}-${size.toString(36)}`
}

/**
 * The same for a single file: files of equal size written within one tick of the file system, some milliseconds, have the same time, but
 * two that exist together have different inode numbers.
 */
const nameOf = (stats: BigIntStats) => `${versionOf(stats)}-${stats.ino.toString(36)}`

/** Files that another writer may be about to use are kept for this many milliseconds. */
const settled = 60_000

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

  async #folder(key: string): Promise<string> {
    return join(await this.#root.own('types'), hashOf(key))
  }

  async read(key: string, stats: BigIntStats): Promise<string> {
    try {
      const folder = await this.#folder(key)
      return (await readRegularFile(join(folder, await this.#nameIn(folder, stats)))).toString('utf8')
    } catch {
      return typeOfKey(key)
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
    if (type === typeOfKey(key)) return
    const temporary = join(await this.#root.own('tmp'), randomUUID())
    const hash = hashOf(key)
    const folder = await this.#root.own('types')
    await this.#root.make(join(folder, hash), ['.storage', 'types', hash], key)
    await writeFile(temporary, type, { flag: 'wx' })
    await rename(temporary, join(folder, hash, nameOf(stats)))
  }

  /** Removes the type of one version, which is gone or was never completed. */
  async remove(key: string, stats: BigIntStats): Promise<void> {
    try {
      const folder = await this.#folder(key)
      await rm(join(folder, nameOf(stats)), { force: true })
      await rmdir(folder)
    } catch {
      // It is missing, or not empty.
    }
  }

  /** Removes the types of older versions of the object; `stats` is the status of the present one. */
  async clean(key: string, stats?: BigIntStats): Promise<void> {
    try {
      // Most keys have none. Nothing is changed until the folder is known not to be a link.
      await access(join(await this.#root.path(), ownFolder, 'types', hashOf(key)))
      const folder = await this.#folder(key)
      const keep = stats === undefined ? undefined : nameOf(stats)
      for (const name of await readdir(folder)) {
        const file = join(folder, name)
        if (name === keep || Date.now() - (await stat(file)).mtimeMs < settled) continue
        await rm(file)
      }
      await rmdir(folder)
    } catch {
      // It is missing, or not empty.
    }
  }
}
