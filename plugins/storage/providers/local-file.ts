import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openInside } from '../../shared/files/open-inside.ts'
import type { StorageBody } from './contract.ts'
import { isMissing, type LocalRoot, linked, segmentsOf } from './local-paths.ts'

/** The open file of a key: the file that was measured is the one that is read, even if its name now refers to another. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: BigIntStats
}

/** Opens the file of a key; `undefined` for a missing one. @throws StorageKeyError for a symbolic link, even to a file inside. */
export async function openFile(root: LocalRoot, key: string): Promise<OpenFile | undefined> {
  const folder = await root.path()
  const path = join(folder, ...segmentsOf(key))
  try {
    const found = await openInside(folder, path, (real) => real === path)
    if (found === undefined) throw linked(key)
    const { handle } = found
    const stats = await handle.stat({ bigint: true })
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
    return await handle.stat({ bigint: true })
  } finally {
    await handle.close()
  }
}
