import { join } from 'node:path'
import { openInside } from '../shared/files/open-inside.ts'
import { isMissingFile, type RegularFile, regularFile } from '../shared/files/regular-file.ts'
import type { StaticSettings } from './options.ts'
import { hasDotfile, isOtherSpelling } from './path.ts'

/** Finds and opens the file for a path: the measured file is the one that is sent, even if its name then refers to another file. */
export async function openFile(
  settings: StaticSettings,
  segments: readonly string[],
): Promise<RegularFile | 'folder' | undefined> {
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
export async function findFile(
  settings: StaticSettings,
  segments: readonly string[],
): Promise<RegularFile | 'redirect' | undefined> {
  const last = segments.at(-1)
  if (last === '') return findIndex(settings, segments.slice(0, -1))
  const found = await openFile(settings, segments)
  if (found === 'folder') {
    if (!settings.redirect) return undefined
    const index = await findIndex(settings, segments)
    await index?.handle.close()
    return index && 'redirect'
  }
  if (found !== undefined) return found
  const names = settings.extensions.map((extension) => `${last}.${extension}`)
  return firstOf(settings, segments.slice(0, -1), names)
}

export function findIndex(settings: StaticSettings, folder: readonly string[]): Promise<RegularFile | undefined> {
  return firstOf(settings, folder, settings.index)
}

async function firstOf(
  settings: StaticSettings,
  folder: readonly string[],
  names: readonly string[],
): Promise<RegularFile | undefined> {
  for (const name of names) {
    const found = await openFile(settings, [...folder, name])
    if (found !== undefined && found !== 'folder') return found
  }
  return undefined
}
