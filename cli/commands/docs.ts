import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../../kernel/support/nearest.ts'
import { quoted, wrongUsage } from '../failure.ts'
import { packageFolder } from '../package.ts'
import { ownCommand } from '../run/own-command.ts'

export const docs = ownCommand({
  details: `Takes the name of an error, the "code" of an error response, or the code of a finding of "doctor". Without a code, it
prints where the documentation is.`,
  arguments: [{ name: 'code', description: 'PluginSetupError, session.memory-store, …' }],
  run({ arguments: { code }, print }) {
    const folder = join(packageFolder(), 'docs')
    if (code === undefined) return print(folder)
    const rows = new Map(['errors.md', 'doctor.md'].flatMap((page) => rowsOf(readFileSync(join(folder, page), 'utf8'))))
    const row = rows.get(code)
    if (row === undefined)
      throw wrongUsage(`docs: no error and no finding has the code ${quoted(code)}.${didYouMean(code, rows.keys())}`)
    for (const [head, text] of row) print(`${head}: ${plain(text, folder)}`)
  },
})

type Row = readonly (readonly [head: string, text: string])[]

/** The rows of the tables of a page that begin with a code. */
function rowsOf(page: string): [code: string, row: Row][] {
  let heads: readonly string[] = []
  return page.split('\n').flatMap((line): [string, Row][] => {
    if (!line.startsWith('| ')) return []
    const cells = line.slice(2, -2).split(/ (?<!\\)\| /)
    if (line.startsWith('| Code |')) heads = cells
    const [, code] = /^`([\w.-]+)`$/.exec(cells[0]!) ?? []
    return code === undefined ? [] : [[code, cells.map((cell, at) => [heads[at] ?? '', cell])]]
  })
}

/** Markdown as text; the target of a link is a file of the package. */
const plain = (text: string, folder: string) =>
  text
    .replaceAll('`', '')
    .replace(/\[([^\]]*)\]\(([^)#]*)[^)]*\)/g, (_, name, file) => `${name} (${join(folder, file)})`)
