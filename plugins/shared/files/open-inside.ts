import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { safely } from '../values/safely.ts'
import { openingFailure, unblocked } from './regular-file.ts'

/** A file or folder that is open, and lay inside the root when it was opened. */
export interface InsideFile {
  /** The open file; the caller closes it. */
  readonly handle: FileHandle
  /** Its path, without symbolic links. */
  readonly path: string
}

/** macOS can refuse a link anywhere in a path (O_NOFOLLOW_ANY), other systems only one at its end. */
const noLinks = process.platform === 'darwin' ? 0x2000_0000 : (constants.O_NOFOLLOW ?? 0)
const flags = unblocked | noLinks | (constants.O_NOCTTY ?? 0)

/** How often a path is tried that changes while it is opened. */
const attempts = 20
const deleted = ' (deleted)'
let shows: boolean | undefined

/**
 * A root as {@link openInside} takes it: absolute, and without symbolic links.
 *
 * @throws (as a rejection) the error of the system for a missing folder.
 * @example
 * const root = await realRoot('public')
 */
export async function realRoot(path: string): Promise<string> {
  const root = await realpath(path)
  // Tried with the root, which a runtime with permissions lets this process read.
  shows ??= safely(() => showsPath(root), false)
  return root
}

/**
 * Opens a file or a folder, and then judges what is open: it must lie inside `root`. A check before the opening cannot prevent a
 * folder from being swapped for a link in between. Links that stay inside are followed. A named pipe is not waited for, so the caller
 * checks the kind of the file.
 *
 * On Linux, the system reports where the open file lies. Elsewhere, and on Deno without `--allow-all`, the path is checked
 * before and after the opening.
 *
 * @param root From {@link realRoot}; `undefined`: anywhere.
 * @param accepts Whether a path without symbolic links may be opened; by default each inside of the root.
 * @returns `undefined` if it lies outside of the root or is not accepted.
 * @throws (as a rejection) the error of the system, for a missing file as well.
 * @example
 * const root = await realRoot('public')
 * const file = await openInside(root, `${root}/index.html`)
 * await file?.handle.close()
 */
export async function openInside(
  root: string | undefined,
  path: string,
  accepts: (real: string) => boolean = () => true,
): Promise<InsideFile | undefined> {
  const prefix = root?.endsWith(sep) ? root : `${root}${sep}`
  const isWanted = (real: string) => (root === undefined || `${real}${sep}`.startsWith(prefix)) && accepts(real)
  let loop: unknown
  for (let attempt = 1; attempt <= attempts; attempt++) {
    // At first without resolving, which costs as much as the opening; but a link is resolved first, as opening a device has effects.
    const isAsked = attempt === 1 && showsPaths()
    const asked = isAsked ? path : await realpath(path).catch((error: unknown) => Promise.reject(loop ?? error))
    if (!isAsked && !isWanted(asked)) return undefined
    const handle = await open(asked, flags).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 'ELOOP') throw openingFailure(path, error)
      loop = error
    })
    const real = handle && (await pathOf(handle, asked, !isAsked).catch(() => undefined))
    if (real !== undefined && isWanted(real)) return { handle: handle!, path: real }
    await handle?.close()
  }
  return undefined
}

/** The path of an open file; `undefined` if the one that was asked for is another file by now. */
async function pathOf(handle: FileHandle, asked: string, isResolved: boolean): Promise<string | undefined> {
  if (showsPaths()) {
    const shown = readlinkSync(descriptorPath(handle))
    const path = shown.endsWith(deleted) && !asked.endsWith(deleted) ? shown.slice(0, -deleted.length) : shown
    // A disk that ignores case shows the spelling of the first request ever: one client would take the file from all others.
    return isResolved && path.toLowerCase() === asked.toLowerCase() ? asked : path
  }
  const opened = await handle.stat({ bigint: true })
  const there = await lstat(asked, { bigint: true })
  const isSame = opened.ino === there.ino && opened.dev === there.dev && (await realpath(asked)) === asked
  return isSame ? asked : undefined
}

/** A path that leads to the open file whatever happens to its name, where {@link showsPaths} is true. */
export const descriptorPath = ({ fd }: { readonly fd: number }): string => `/proc/self/fd/${fd}`

/** Whether the system shows the paths of open files, and the runtime the system's numbers of them; found out by {@link realRoot}. */
export const showsPaths = (): boolean => shows === true

function showsPath(path: string): boolean {
  const fd = openSync(path, constants.O_RDONLY)
  try {
    return readlinkSync(descriptorPath({ fd })) === path
  } finally {
    closeSync(fd)
  }
}
