import { resolve, sep } from 'node:path'
import type { SendFile } from '../kernel/http/response/file.ts'
import { mediaTypeOfFile } from '../kernel/http/response/media-types.ts'
import { FileNotFoundError, withCause } from '../kernel/support/errors.ts'
import { checkOptions, OptionError, quoted } from '../kernel/support/options.ts'
import { openRegularFile, type RegularFile, readPart, regularFile, smallPart } from '../kernel/support/regular-file.ts'
import { openInside, realRoot } from './shared/files/open-inside.ts'

/** Error codes for a file that does not exist or cannot be read; the answer never shows the path. */
const missing = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
  'ELOOP',
  'EACCES',
  'EPERM',
  // A folder, a pipe, a device.
  'IrregularFileError',
])

/** Opens a file for sending, and measures the opened file: if the path is replaced in between, the length still matches. */
export const sendFile: SendFile = async (path, options) => {
  if (options !== undefined) {
    checkOptions('res.file', options, ['root'])
    // Without its root, the path would lead anywhere.
    if ('root' in options && (typeof options.root !== 'string' || options.root === ''))
      throw OptionError('res.file.root', quoted(options.root), 'the path of a folder')
  }
  try {
    const root = options?.root
    const file = await (root === undefined ? openRegularFile(path) : openInRoot(await realRoot(root), path))
    const { handle, stat } = file
    const { size } = stat
    // Limited to the declared length, so that a growing file cannot exceed it.
    const body =
      size <= smallPart ? await readPart(handle, 0, size) : handle.createReadStream({ start: 0, end: size - 1 })
    return { body, size, type: mediaTypeOfFile(file.path), modified: stat.mtime.toUTCString() }
  } catch (error) {
    if (missing.has(String((error as { code?: unknown }).code))) throw withCause(FileNotFoundError(), error)
    throw error
  }
}

async function openInRoot(root: string, path: string): Promise<RegularFile> {
  const file = await openInside(root, resolve(root, `.${sep}${path}`))
  if (file === undefined) throw FileNotFoundError()
  return regularFile(file.path, file.handle)
}
