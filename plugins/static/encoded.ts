import { basename } from 'node:path'
import Negotiator from 'negotiator'
import type { RegularFile } from '../shared/files/regular-file.ts'
import { openFile } from './find.ts'
import type { StaticSettings } from './options.ts'

const endings = { br: '.br', gzip: '.gz' } as const
type Encoding = keyof typeof endings
/** The encodings, the one with smaller files first. */
const preferred: Encoding[] = ['br', 'gzip']

/** A file next to the requested one, and its encoding. */
export interface EncodedFile {
  readonly file: RegularFile
  readonly encoding: Encoding
}

/** Finds the compressed sibling of a file that this client can read; `undefined` without one. */
export async function encodedSibling(
  settings: StaticSettings,
  { path }: RegularFile,
  acceptEncoding: string | undefined,
): Promise<EncodedFile | undefined> {
  if (acceptEncoding === undefined) return undefined
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(preferred)
  const folder = path.slice(settings.root.length, -basename(path).length).split(/[\\/]/)
  for (const encoding of preferred) {
    if (!accepted.includes(encoding)) continue
    const name = basename(path) + endings[encoding]
    const file = await openFile(settings, [...folder.filter((part) => part !== ''), name])
    if (file !== undefined && file !== 'folder') return { file, encoding }
  }
  return undefined
}
