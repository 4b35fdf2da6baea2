import Negotiator from 'negotiator'
import type { Request, Response } from '../../kernel/index.ts'
import type { RegularFile } from '../shared/files/regular-file.ts'
import { sendOpenFile } from '../shared/http/file-response.ts'
import { mediaTypeOfFile } from '../shared/http/media-types.ts'
import { fileValidators } from '../shared/http/validators.ts'
import { openFile } from './find.ts'
import type { StaticSettings } from './options.ts'

const endings = { br: '.br', gzip: '.gz' } as const
type Encoding = keyof typeof endings
/** The encodings, the one with smaller files first. */
const preferred: Encoding[] = ['br', 'gzip']

/** The longest time for which browsers cache anything. */
const longestMs = 365 * 24 * 60 * 60 * 1000

/** Sends an open file, or its compressed sibling, and closes what is not sent. */
export async function sendFound(
  settings: StaticSettings,
  found: RegularFile,
  req: Request,
  res: Response,
): Promise<void> {
  const { maxAge, immutable, precompressed } = settings
  let file = found
  try {
    if (precompressed) {
      res.vary('Accept-Encoding')
      const encoded = await encodedSibling(settings, found, req.headers['accept-encoding'])
      if (encoded !== undefined) {
        await found.handle.close()
        file = encoded.file
        res.header('content-encoding', encoded.encoding)
      }
    }
    const { handle, stat } = file
    const { etag, lastModified } = fileValidators(stat)
    const seconds = Math.floor(Math.min(maxAge, longestMs) / 1000)
    res
      .header('cache-control', `public, max-age=${seconds}${immutable ? ', immutable' : ''}`)
      .header('last-modified', lastModified)
      .header('etag', etag)
      .header('x-content-type-options', 'nosniff')
    await settings.setHeaders?.(res, found.path)
    // A client repeats the validators that it was sent, which may be those of setHeaders.
    const sent = (name: string) => res.getHeader(name)?.toString()
    const validators = { etag: sent('etag'), lastModified: sent('last-modified') }
    const type = mediaTypeOfFile(found.path)
    if (!(await sendOpenFile(req, res, { handle, size: stat.size, type, validators }))) await handle.close()
  } catch (error) {
    await file.handle.close().catch(() => {})
    throw error
  }
}

/** Finds the compressed sibling of a file that this client can read, beside the file itself and not a link to it; `undefined` without one. */
async function encodedSibling(
  settings: StaticSettings,
  { path }: RegularFile,
  acceptEncoding: string | undefined,
): Promise<{ readonly file: RegularFile; readonly encoding: Encoding } | undefined> {
  if (acceptEncoding === undefined) return undefined
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(preferred)
  for (const encoding of preferred.filter((one) => accepted.includes(one))) {
    const file = await openFile(settings, path + endings[encoding])
    if (file !== undefined && file !== 'folder') return { file, encoding }
  }
  return undefined
}
