import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is that of a folder, or is in the folder. Links are not followed: pass real paths where that matters. */
export function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path)
  // On Windows, it is absolute if the paths are on different drives.
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
