import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { StorageRefusedError } from '../errors.ts'
import type { StorageBody } from './contract.ts'
import { isMissing, type LocalRoot, linked } from './local-paths.ts'

/** Whether the system can report the path of an open file by its descriptor: only Node.js uses the system's numbers. */
const asksSystem = process.platform === 'linux' && !('Bun' in globalThis || 'Deno' in globalThis)

/** The open file of a key: the file that was measured is the one that is read, even if its name now refers to another. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: BigIntStats
  readonly path: string
}

/** Non-blocking, because opening a pipe would wait for a writer. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Opens the file of a key; `undefined` for a missing one. */
export async function openFile(root: LocalRoot, key: string): Promise<OpenFile | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      const found = await openOnce(root, key)
      if (found !== 'replaced') return found
    } catch (error) {
      const { code } = error as { code?: string }
      if (isMissing(error) || code === 'EISDIR') return undefined
      if (code === 'ELOOP') throw linked(key)
      throw error
    }
  }
  throw StorageRefusedError(`the disk at ${await root.path()}`, 'the file is replaced faster than it can be opened')
}

async function openOnce(root: LocalRoot, key: string): Promise<OpenFile | undefined | 'replaced'> {
  const path = root.pathOf(key, await root.path())
  // If the system reports the path of an open file, only this path is compared, and the rest only if it differs.
  if (!asksSystem) await mustLieAt(root, key, path)
  const handle = await open(path, flags)
  try {
    const stats = await handle.stat({ bigint: true })
    // A folder in the path may have become a link before the file was opened.
    const at = await openedAt(handle, stats)
    // The file may have been removed or replaced since.
    const lies = at === undefined ? await liesAt(root, key, stats) : at === path || at === `${path} (deleted)`
    if (!lies && asksSystem) await mustLieAt(root, key, path)
    if (lies) {
      if (stats.isFile()) return { handle, stats, path }
      await handle.close()
      return undefined
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return 'replaced'
}

/**
 * Refuses symbolic links, even if the system does not support O_NOFOLLOW. Checks the path piece by piece only if it is not as expected.
 *
 * @throws StorageKeyError for a symbolic link; for a missing file, an error that `isMissing` recognises.
 */
async function mustLieAt(root: LocalRoot, key: string, path: string): Promise<void> {
  if ((await realpath(path).catch(() => undefined)) === path) return
  if ((await lstat(await root.locate(key))).isSymbolicLink()) throw linked(key)
}

/** The path of an open file according to the system; `undefined` if it is unknown, or if the runtime numbers files itself. */
async function openedAt({ fd }: FileHandle, { dev, ino }: BigIntStats): Promise<string | undefined> {
  const link = `/proc/self/fd/${fd}`
  try {
    if (!asksSystem) {
      const it = await stat(link, { bigint: true })
      if (it.dev !== dev || it.ino !== ino) return undefined
    }
    return await readlink(link)
  } catch {
    return undefined
  }
}

/** The alternative: checks that the folder is still real, and that the name refers to the open file. */
async function liesAt(root: LocalRoot, key: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const there = await lstat(await root.locate(key), { bigint: true })
  return there.ino === ino && there.dev === dev
}

/** Writes a new file; returns its status once it is on the disk. */
export async function writeFile(path: string, body: StorageBody): Promise<BigIntStats> {
  const handle = await open(path, 'wx')
  try {
    if (body instanceof Uint8Array) await writeAll(handle, body)
    else for await (const chunk of body) await writeAll(handle, chunk as Uint8Array)
    // Otherwise a machine that loses power right after the renaming may be left with an empty file.
    await handle.datasync()
    return await handle.stat({ bigint: true })
  } finally {
    await handle.close()
  }
}

/** Writes a whole chunk: one call may write only part of it. */
async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at, chunk.length - at)).bytesWritten
}
