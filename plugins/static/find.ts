import { join } from 'node:path'
import { openInside } from '../shared/files/open-inside.ts'
import { isMissingFile, type RegularFile, regularFile } from '../shared/files/regular-file.ts'
import type { StaticSettings } from './options.ts'
import { hasDotfile, isOtherSpelling } from './path.ts'

export type Found = RegularFile | 'folder' | undefined

/** Finds and opens the file for a path: the measured file is the one that is sent, even if its name then refers to another file. */
export async function openFile(settings: StaticSettings, segments: readonly string[]): Promise<Found> {
  const { root, followSymlinks, dotfiles } = settings
  const asked = join(root, ...segments)
  const isServable = (real: string) =>
    !isOtherSpelling(asked, real) && (dotfiles === 'allow' || !hasDotfile(real.slice(root.length).split(/[\\/]/)))
  try {
    const found = await (followSymlinks ? openInside(undefined, asked) : openInside(root, asked, isServable))
    return found && (await regularFile(found.path, found.handle))
  } catch (error) {
    if ((error as { kind?: unknown }).kind === 'a folder') return 'folder'
    if (isMissingFile(error)) return undefined
    throw error
  }
}

/** Finds the file for a path: the path itself, with one of the extensions, or the index of a folder. */
export async function findFile(settings: StaticSettings, segments: readonly string[]): Promise<Found | 'redirect'> {
  const last = segments.at(-1)
  if (last === '') return findIndex(settings, segments.slice(0, -1))
  const found = await openFile(settings, segments)
  if (found === 'folder') {
    if (!settings.redirect) return undefined
    const index = await findIndex(settings, segments)
    if (index === undefined || index === 'folder') return undefined
    await index.handle.close()
    return 'redirect'
  }
  if (found !== undefined) return found
  for (const extension of settings.extensions) {
    const other = await openFile(settings, [...segments.slice(0, -1), `${last}.${extension}`])
    if (other !== undefined && other !== 'folder') return other
  }
  return undefined
}

export async function findIndex(settings: StaticSettings, folder: readonly string[]): Promise<Found> {
  for (const name of settings.index) {
    const found = await openFile(settings, [...folder, name])
    if (found !== undefined && found !== 'folder') return found
  }
  return undefined
}
