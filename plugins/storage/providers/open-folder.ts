import { descriptorPath, openInside, realRoot, showsPaths } from '../../shared/files/open-inside.ts'

/** A folder in which files are written, renamed or removed. */
export interface OpenFolder {
  /** A path of it. On Linux it leads to this folder, wherever its name leads by now. */
  readonly at: string
  close(): Promise<void>
}

/**
 * Opens a folder that lies at exactly this path, without symbolic links; where the system does not show the paths of open files, checks it only.
 *
 * @returns `undefined` if the path leads through a symbolic link.
 * @throws (as a rejection) the error of the system, for a missing folder as well.
 */
export async function openFolder(path: string): Promise<OpenFolder | undefined> {
  // Windows does not let every runtime open a folder.
  if (!showsPaths()) return (await realRoot(path)) === path ? { at: path, close: async () => {} } : undefined
  const folder = await openInside(path, path, (real) => real === path)
  return folder && { at: descriptorPath(folder.handle), close: () => folder.handle.close() }
}
