import { lstat, mkdir, realpath, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isFrameworkError } from '../../../kernel/index.ts'
import { Kept } from '../../toolkit/kept.ts'
import { StorageRefusedError } from '../errors.ts'
import { keyError } from '../key.ts'

/** The provider's own folder in the root, for content types and for files that are being written. */
export const ownFolder = '.storage'

const windows = process.platform === 'win32'
/** Windows device names, with any extension; refused everywhere, so that a root can be moved. */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i
const strangeOnWindows = /[<>:"|?*]|[. ]$/

const codeOf = (error: unknown) => String((error as { code?: unknown }).code)

/** Whether an error means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error))
}

/** The error for a refusal by the disk: full, read-only, not permitted. */
export function refusal(root: string, error: unknown): unknown {
  const { syscall, message } = error as { syscall?: unknown; message?: unknown }
  if (isFrameworkError(error) || typeof syscall !== 'string') return error
  return Object.assign(StorageRefusedError(`the disk at ${root}`, String(message)), { cause: error })
}

/** The segments of a key, checked to be valid file names; the general rules for keys were checked before. */
export function segmentsOf(key: string): string[] {
  const segments = key.split('/')
  for (const segment of segments) {
    if (Buffer.byteLength(segment) > 255) throw keyError(key, 'have at most 255 bytes in each segment on a disk')
    if (device.test(segment))
      throw keyError(key, 'have no segment that is a Windows device name, such as "con" or "nul"')
    if (windows && strangeOnWindows.test(segment))
      throw keyError(key, 'have no segment that is not a valid file name on Windows')
  }
  // Compared without case: a disk that ignores case would expose the provider's own files.
  if (segments[0]!.toLowerCase() === ownFolder) {
    throw keyError(key, `not begin with "${ownFolder}", which the disk provider keeps for itself`)
  }
  return segments
}

/** The folders of one root: none of them is ever reached through a symbolic link. */
export class LocalRoot {
  readonly #given: string
  readonly #real = new Kept(() => this.#make())

  constructor(root: string) {
    this.#given = root
  }

  /**
   * The root, resolved without symbolic links; created if it is missing.
   *
   * @throws StorageRefusedError: an unavailable root must not look like an empty one.
   */
  path(): Promise<string> {
    return this.#real.get()
  }

  async #make(): Promise<string> {
    try {
      await mkdir(this.#given, { recursive: true })
      return await realpath(this.#given)
    } catch (error) {
      throw refusal(this.#given, error)
    }
  }

  async own(name: string): Promise<string> {
    const folder = join(await this.path(), ownFolder, name)
    try {
      // This succeeds in every call but the first. If it does not, the loop below finds the reason.
      if ((await realpath(folder).catch(() => undefined)) === folder) return folder
      await this.make(folder, [ownFolder, name], name)
    } catch (error) {
      if (!isFrameworkError(error)) throw error
      // This failure does not belong to any key.
      throw StorageRefusedError(`the disk at ${this.#given}`, `${folder} is a file or a symbolic link. Remove it`)
    }
    return folder
  }

  /** The path of the file of a key, without checking its folders. */
  pathOf(key: string, root: string): string {
    return join(root, ...segmentsOf(key))
  }

  /**
   * The path of a key, in a folder that really exists there.
   *
   * @throws StorageKeyError if a symbolic link leads elsewhere; without the folder, an error that `isMissing` recognises.
   */
  async locate(key: string): Promise<string> {
    const root = await this.path()
    const segments = segmentsOf(key)
    const folder = join(root, ...segments.slice(0, -1))
    if ((await realpath(folder)) !== folder) throw linked(key)
    return join(folder, segments.at(-1)!)
  }

  /** The same as `locate`, but creates the folder. */
  async prepare(key: string): Promise<string> {
    try {
      return await this.locate(key)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    const segments = segmentsOf(key)
    const folder = join(await this.path(), ...segments.slice(0, -1))
    await this.make(folder, segments.slice(0, -1), key)
    return join(folder, segments.at(-1)!)
  }

  /** Creates folders one after the other: a single call would create them through a link as well. */
  async make(folder: string, segments: readonly string[], key: string): Promise<void> {
    let path = await this.path()
    for (const segment of segments) {
      path = join(path, segment)
      try {
        await mkdir(path)
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
        const stat = await lstat(path)
        if (stat.isSymbolicLink()) throw linked(key)
        if (!stat.isDirectory()) throw taken(key, error)
      }
    }
    if ((await realpath(folder)) !== folder) throw linked(key)
  }

  /** Removes folders that have become empty through the removal of an object. */
  async prune(key: string): Promise<void> {
    const root = await this.path()
    const segments = segmentsOf(key)
    try {
      for (let last = segments.length - 1; last > 0; last--) await rmdir(join(root, ...segments.slice(0, last)))
    } catch {
      // The folder is not empty, or another process was faster.
    }
  }
}

export function linked(key: string): Error {
  return keyError(key, 'not lead through a symbolic link')
}

export function taken(key: string, cause: unknown): Error {
  return keyError(
    key,
    'not be inside another key or contain other keys: on a disk a name is either a file or a folder',
    cause,
  )
}
