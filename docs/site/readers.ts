import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { type Entry, searchOptions } from './client/words.ts'
import type { Page } from './collect.ts'
import { generated, sidebar } from './sidebar.ts'
import { root } from './template.ts'

/** Makes the search index, with one entry for each part of a page. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(searchOptions)
  for (const { to, title, name, description, section = '', reading } of pages) {
    for (const { heading, anchor, level, text } of reading!.parts) {
      const id = level === 1 ? to : `${to}#${anchor}`
      if (index.has(id)) continue
      // The name of a page counts for its first part only: otherwise it would find every part, in any order.
      const top = level === 1
      index.add({
        id,
        title,
        page: top ? `${title} ${name}` : '',
        about: top ? description : '',
        headings: top ? reading!.parts.map((part) => part.heading).join(' ') : '',
        heading: top ? '' : heading,
        section,
        text: text.replace(/\s+/g, ' ').trim(),
      })
    }
  }
  return JSON.stringify(index)
}

/** Reads an index, as the browser does. */
export const readIndex = (text: string) => MiniSearch.loadJSON<Entry>(text, searchOptions)

/** Makes the files for programs that read: a list of the pages as llmstxt.org describes it, and the pages themselves in one text. */
export function llms(name: string, pages: readonly Page[]): Record<string, string> {
  const home = pages[0]!
  const lists = sidebar.map(({ title }) => {
    const lines = pages
      .filter(({ section }) => section === title)
      .map(({ title, file, description }) => `- [${title}](${file}): ${description}`)
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  const whole = (file: string) => (generated().get(file) ?? readFileSync(join(root, file), 'utf8')).trim()
  const text = (files: readonly Page[], read: (file: string) => string) =>
    files.map(({ file }) => `<!-- ${file} -->\n\n${read(file)}\n`).join('\n')
  const isEssential = ({ file }: Page) =>
    /^docs\/(getting-started|first-steps\/[a-z-]+|reference\/(?!context|failures|hooks|kernel|option-checks|runtimes|tracing|typescript)[a-z]+)\.md$/.test(
      file,
    )
  const plugins = pages.filter(({ file }) => file.startsWith('docs/plugins/'))
  // What a plugin is for, and how it is registered; its page says the rest.
  const beginning = (file: string) => whole(file).split(/\n## /)[0]!.trim()
  const more = `Everything in one file: [llms-full.txt](llms-full.txt). The essential pages, for a smaller context: [llms-small.txt](llms-small.txt)`
  return {
    'llms.txt': `# ${name}\n\n> ${home.description}\n\n${more}\n\n${lists.join('\n')}`,
    'llms-full.txt': text(pages, whole),
    'llms-small.txt': `${text(pages.filter(isEssential), whole)}\n${text(plugins, beginning)}`,
  }
}
