import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { searchOptions } from './client/words.ts'
import type { Page } from './collect.ts'
import { generated, sidebar } from './sidebar.ts'
import { root } from './template.ts'

/** Makes the search index, with one entry for each part of a page. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(searchOptions)
  for (const { to, title, section = '', reading } of pages) {
    for (const { heading, anchor, level, text } of reading!.parts) {
      const id = level === 1 ? to : `${to}#${anchor}`
      if (index.has(id)) continue
      // The name of a page counts for its first part only: otherwise it would find every part, in any order.
      const top = level === 1
      index.add({
        id,
        title,
        page: top ? title : '',
        heading: top ? '' : heading,
        section,
        text: text.replace(/\s+/g, ' ').trim(),
      })
    }
  }
  return JSON.stringify(index)
}

/** Makes the files for programs that read: a list of the pages as llmstxt.org describes it, and the pages themselves in one text. */
export function llms(name: string, pages: readonly Page[]): Record<string, string> {
  const home = pages[0]!
  const lists = sidebar.map(({ title }) => {
    const lines = pages
      .filter(({ section }) => section === title)
      .map(({ title, file, description }) => `- [${title}](${file}): ${description}`)
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  const full = pages.map(
    ({ file }) => `<!-- ${file} -->\n\n${(generated().get(file) ?? readFileSync(join(root, file), 'utf8')).trim()}\n`,
  )
  return {
    'llms.txt': `# ${name}\n\n> ${home.description}\n\nEverything in one file: [llms-full.txt](llms-full.txt)\n\n${lists.join('\n')}`,
    'llms-full.txt': full.join('\n'),
  }
}
