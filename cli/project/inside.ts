import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is that of a folder or in it. Links are not followed: pass real paths where that matters. */
export function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path)
  // Absolute on Windows, from another drive.
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
