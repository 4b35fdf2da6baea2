import { join, relative } from 'node:path'
import { openInside } from '../shared/files/open-inside.ts'
import { isMissingFile, type RegularFile, regularFile } from '../shared/files/regular-file.ts'
import type { StaticSettings } from './options.ts'
import { isOtherSpelling } from './path.ts'

/**
 * A dotfile on the way from the root to a file, which links may lead out of the root. `..` is the way up, and folders such as
 * `..2026_11_29_09_30_00.1234567890` are those in which Kubernetes keeps a mounted ConfigMap.
 */
const hidden = /(?:^|[\\/])\.(?!\.(?:\d{4}_[\d_.]+)?(?:[\\/]|$))/

/** Finds and opens the file at a path: the measured file is the one that is sent, even if its name then refers to another file. */
export async function openFile(
  { root, followSymlinks, dotfiles }: StaticSettings,
  asked: string,
): Promise<RegularFile | 'folder' | undefined> {
  const isServable = (real: string) =>
    !isOtherSpelling(asked, real) && (dotfiles === 'allow' || !hidden.test(relative(root, real)))
  try {
    const found = await openInside(followSymlinks ? undefined : root, asked, isServable)
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
  const found = await openFile(settings, join(settings.root, ...segments))
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
    const found = await openFile(settings, join(settings.root, ...folder, name))
    if (found !== undefined && found !== 'folder') return found
  }
  return undefined
}
