import { type BigIntStats, closeSync, constants, fstatSync, open as openCallback, readlinkSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isFrameworkError } from '../../../kernel/index.ts'
import { descriptorPath, openInside, realRoot, showsPaths } from '../../shared/files/open-inside.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { safely } from '../../shared/values/safely.ts'
import { StorageRefusedError } from '../errors.ts'
import { keyError } from '../key.ts'
import type { StorageBody } from './contract.ts'

/** The provider's own folder in the root, for content types and for files that are being written. */
export const ownFolder = '.storage'

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const windows = process.platform === 'win32'
/** Windows device names, with any extension; refused everywhere, so that a root can be moved. */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i
const strangeOnWindows = /[<>:"|?*]|[. ]$/

const codeOf = (error: unknown) => String((error as { code?: unknown }).code)

/** Whether an error means that the file does not exist. */
export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

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
      throw keyError(key, 'have only segments that are valid file names on Windows')
  }
  // Compared without case: a disk that ignores case would expose the provider's own files.
  if (segments[0]!.toLowerCase() === ownFolder)
    throw keyError(key, `not begin with "${ownFolder}", which the disk provider keeps for itself`)
  return segments
}

/** The folders of one root: none of them is ever reached through a symbolic link. */
export class LocalRoot {
  readonly #given: string
  readonly #real = new Memoized(() => this.#make())

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
      return await realRoot(this.#given)
    } catch (error) {
      throw refusal(this.#given, error)
    }
  }

  /** Opens one of the provider's own folders; the caller closes it. */
  async own(...names: readonly string[]): Promise<OpenFolder> {
    await this.path()
    try {
      return await this.open([ownFolder, ...names], '', true)
    } catch (error) {
      if (!isFrameworkError(error)) throw error
      // This failure does not belong to any key.
      const folder = join(this.#given, ownFolder, ...names)
      throw StorageRefusedError(`the disk at ${this.#given}`, `${folder} is a file or a symbolic link. Remove it`)
    }
  }

  /** Does something with the path of the file of a key, in its folder, which `make` creates if it is missing. */
  async inFolderOf<Result>(key: string, work: (path: string) => Promise<Result>, make = false): Promise<Result> {
    const segments = segmentsOf(key)
    const folder = await this.open(segments.slice(0, -1), key, make)
    return using(folder, (at) => work(join(at, segments.at(-1)!)))
  }

  /**
   * Opens a folder; the caller closes it. `make` creates those that are missing, each in its open parent.
   *
   * @throws StorageKeyError if a symbolic link leads elsewhere; without the folder, an error that `isMissing` recognises.
   */
  async open(segments: readonly string[], key: string, make = false): Promise<OpenFolder> {
    const path = join(await this.path(), ...segments)
    for (let attempt = 1; ; attempt++) {
      try {
        const folder = await openFolder(path)
        if (folder === undefined) throw linked(key)
        return folder
      } catch (error) {
        if (!make || !isMissing(error) || segments.length === 0 || attempt === 5) throw error
      }
      const parent = await this.open(segments.slice(0, -1), key, true)
      await using(parent, (at) => makeFolder(join(at, segments.at(-1)!), key))
    }
  }

  /** Removes folders that have become empty through the removal of an object. */
  async prune(key: string): Promise<void> {
    const segments = segmentsOf(key)
    try {
      for (let last = segments.length - 1; last > 0; last--)
        await this.inFolderOf(segments.slice(0, last).join('/'), rmdir)
    } catch {
      // The folder is not empty, or another process was faster.
    }
  }
}

/** Does something in an open folder, and closes it. */
export async function using<Result>(folder: OpenFolder, work: (at: string) => Promise<Result>): Promise<Result> {
  try {
    return await work(folder.at)
  } finally {
    await folder.close()
  }
}

async function makeFolder(path: string, key: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') throw taken(key, error)
    if (codeOf(error) !== 'EEXIST') throw error
    const stat = await lstat(path)
    if (stat.isSymbolicLink()) throw linked(key)
    if (!stat.isDirectory()) throw taken(key, error)
  }
}

const linked = (key: string): Error => keyError(key, 'not lead through a symbolic link')

export function taken(key: string, cause: unknown): Error {
  return keyError(
    key,
    'not be inside another key or contain other keys: on a disk a name is either a file or a folder',
    cause,
  )
}

/** A folder in which files are written, renamed or removed. */
export interface OpenFolder {
  /** A path of it. On Linux it leads to this folder, wherever its name leads by now. */
  readonly at: string
  close(): Promise<void>
}

/** Not a `FileHandle`, which takes twice as long and cannot be closed at once. */
const openNumber = promisify(openCallback)

/** Folders that are open for work that is not done, by path: asking one of the threads for files takes longer than all else. */
const inUse = new Map<string, { readonly opening: Promise<number>; users: number }>()

/**
 * Opens a folder that lies at exactly this path, without symbolic links; where the system does not show the paths of open files, checks it only.
 *
 * @returns `undefined` if the path leads through a symbolic link.
 * @throws (as a rejection) the error of the system, for a missing folder as well.
 */
async function openFolder(path: string): Promise<OpenFolder | undefined> {
  // Windows does not let every runtime open a folder.
  if (!showsPaths()) return (await realRoot(path)) === path ? { at: path, close: async () => {} } : undefined
  const one = inUse.get(path) ?? { opening: openNumber(path, folderFlags), users: 0 }
  inUse.set(path, one)
  one.users++
  const fd = await one.opening.catch(() => -1)
  const at = descriptorPath({ fd })
  const close = async () => {
    if (--one.users > 0) return
    inUse.delete(path)
    if (fd !== -1) closeSync(fd)
  }
  if (safely(() => readlinkSync(at)) === path) return { at, close }
  inUse.delete(path)
  await close()
  // It is missing, a link is on the way, it was swapped since it was opened, or the disk ignores case.
  const folder = await openInside(path, path, (real) => real === path)
  return folder && { at: descriptorPath(folder.handle), close: () => folder.handle.close() }
}

/** The open file of a key: the file that was measured is the one that is read, even if its name now refers to another. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: BigIntStats
}

/** The system has it in memory since the file was opened: asking one of the threads for files takes ten times as long. */
const statusOf = ({ fd }: FileHandle): BigIntStats => fstatSync(fd, { bigint: true })

/** Opens the file of a key; `undefined` for a missing one. @throws StorageKeyError for a symbolic link, even to a file inside. */
export async function openFile(root: LocalRoot, key: string): Promise<OpenFile | undefined> {
  const folder = await root.path()
  const path = join(folder, ...segmentsOf(key))
  try {
    const found = await openInside(folder, path, (real) => real === path)
    if (found === undefined) throw linked(key)
    const { handle } = found
    const stats = statusOf(handle)
    if (stats.isFile()) return { handle, stats }
    await handle.close()
    return undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (isMissing(error) || code === 'IrregularFileError') return undefined
    if (code === 'ELOOP') throw linked(key)
    throw error
  }
}

/** Writes a new file; returns its status once it is on the disk. */
export async function writeBody(path: string, body: StorageBody): Promise<BigIntStats> {
  const handle = await open(path, 'wx')
  try {
    await writeFile(handle, body)
    // Otherwise a machine that loses power right after the renaming may be left with an empty file.
    await handle.datasync()
    return statusOf(handle)
  } finally {
    await handle.close()
  }
}
