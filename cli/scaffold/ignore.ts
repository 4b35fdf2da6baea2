import { join } from 'node:path'
import { textOf, withLines } from '../text-file.ts'
import type { ScaffoldFile } from './files.ts'

/** The `.gitignore` in a folder with these entries. */
export const ignoreFile = (folder: string, entries: readonly string[]): ScaffoldFile => ({
  path: '.gitignore',
  text: ignoring(textOf(join(folder, '.gitignore')) ?? '', entries),
  existing: 'update',
})

/**
 * A `.gitignore` with these entries: unchanged if it has them, otherwise with the missing ones at its end.
 *
 * The function knows the usual spellings of an entry but no patterns: an extra entry does no harm, while a missing one may publish
 * a key.
 */
export function ignoring(text: string, entries: readonly string[]): string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  // The last matching line applies: an ignored path that is re-included later is not ignored.
  const covers = (entry: string) => {
    const [bare, found] = [bareOf(entry), lines.map((line) => line.trimEnd())]
    const last = found.findLastIndex((line) => bareOf(line) === bare && !line.startsWith('!'))
    return last > found.findLastIndex((line) => line.startsWith('!') && bareOf(line.slice(1)) === bare)
  }
  const missing = entries.filter((entry) => !covers(entry))
  return withLines(text, missing)
}

/** `/keys/`, `keys/`, `keys` and `keys/**` are spellings of one. */
const bareOf = (line: string) => line.replace(/^(\*\*)?\//, '').replace(/\/?(\*\*?)?$/, '')
