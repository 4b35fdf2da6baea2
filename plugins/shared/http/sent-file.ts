import { resolve, sep } from 'node:path'
import type { Bodies } from '../../../kernel/http/response/response-buffer.ts'
import { checkOptions, type FileOptions, OptionError, quoted } from '../../../kernel/index.ts'
import { FileNotFoundError, withCause } from '../../../kernel/support/errors.ts'
import { openInside, realRoot } from '../files/open-inside.ts'
import {
  isMissingFile,
  openRegularFile,
  type RegularFile,
  readPart,
  regularFile,
  smallPart,
} from '../files/regular-file.ts'
import { mediaTypeOfFile } from './media-types.ts'

export const sendFile: Bodies['sendFile'] = async (res, path, options) => {
  const { body, size, type, modified } = await openFile(path, options)
  if (!res.answered) {
    if (res.getHeader('content-type') === undefined) res.setHeader('content-type', type)
    res.setHeader('content-length', size)
    res.setHeader('last-modified', modified)
  }
  return body instanceof Uint8Array ? res.answer('bytes', body) : res.answer('stream', body)
}

export const download: Bodies['download'] = (res, pathOrBytes, given, more) => {
  const [filename, options] = typeof given === 'object' ? [undefined, given] : [given, more]
  const name =
    filename ?? (typeof pathOrBytes === 'string' ? pathOrBytes.split(/[\\/]/).at(-1) : undefined) ?? 'download'
  if (!res.answered) res.setHeader('content-disposition', dispositionOf(name))
  if (typeof pathOrBytes === 'string') return res.file(pathOrBytes, options)
  if (!res.answered && res.getHeader('content-type') === undefined) res.setHeader('content-type', mediaTypeOfFile(name))
  return Promise.resolve(res.bytes(pathOrBytes))
}

/** The name in ASCII, and if it is another one, exactly (RFC 6266 section 4.3, RFC 8187). */
export function dispositionOf(name: string, type: 'attachment' | 'inline' = 'attachment'): string {
  const fallback = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return `${type}; filename="${fallback}"${fallback === name ? '' : `; filename*=UTF-8''${encodeExactly(name.toWellFormed())}`}`
}

/** Encodes everything but letters, digits and "-_.~": `encodeURIComponent` leaves some characters that headers and signatures do not allow. */
export const encodeExactly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** Opens a file and then measures it: if the path is replaced in between, the length still matches. */
async function openFile(path: string, options: FileOptions | undefined) {
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
    if (isMissingFile(error)) throw withCause(FileNotFoundError(), error)
    throw error
  }
}

async function openInRoot(root: string, path: string): Promise<RegularFile> {
  const file = await openInside(root, resolve(root, `.${sep}${path}`))
  if (file === undefined) throw FileNotFoundError()
  return regularFile(file.path, file.handle)
}
