import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, type Part, type Reading, readMarkdown } from './markdown.ts'
import { sidebar } from './sidebar.ts'

export const root = join(import.meta.dirname, '../..')

/** What becomes one page of the site: a page of the documentation, a file that one of them links to, or a folder of such files. */
export interface Page {
  /** The path from the project's folder; a folder ends with a slash. */
  readonly file: string
  /** The path on the site. The site has the folders of the project, so that the pages themselves lie on it, too, with links that hold. */
  readonly to: string
  readonly title: string
  /** As the sidebar calls it. */
  readonly name: string
  readonly description: string
  /** Of the sidebar; absent for files and folders. */
  readonly section?: string
  readonly reading?: Reading
  /** The code of a file. */
  readonly code?: string
  /** What a folder holds. */
  readonly entries?: readonly string[]
}

export interface Site {
  /** By `file`. */
  readonly pages: ReadonlyMap<string, Page>
  readonly problems: readonly string[]
  /** The address of a link on the site, from the root of that, or what is wrong with it. */
  resolve(from: Page, href: string): { to: string } | { problem: string }
}

const isFolder = (file: string) => existsSync(join(root, file)) && statSync(join(root, file)).isDirectory()

/** Files below a folder. Folders that only tools need, and hidden ones, are not for readers. */
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .filter((file) => !/(^|\/)(node_modules|\.[^/]+)\/|^docs\/site\//.test(file) && !isFolder(file))
    .sort()

function pageOf(file: string, name: string | undefined, section: string): Page {
  const reading = readMarkdown(readFileSync(join(root, file), 'utf8'))
  const title = reading.parts.find(({ level, heading }) => level === 1 && heading !== '')?.heading ?? file
  const to = file.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html')
  return { file, to, title, name: name ?? title, description: describe(reading.tokens), section, reading }
}

function fileOf(file: string): Page {
  const title = posix.basename(file)
  return {
    file,
    to: `${file}.html`,
    title,
    name: title,
    description: `The source of ${file}.`,
    code: readFileSync(join(root, file), 'utf8').trimEnd(),
  }
}

function folderOf(folder: string): Page {
  const title = posix.basename(folder)
  const description = `What the folder ${folder} holds.`
  return { file: `${folder}/`, to: `${folder}/index.html`, title, name: title, description, entries: filesIn(folder) }
}

/** All pages of the documentation, and whatever they link to. */
export function collect(): Site {
  const problems: string[] = []
  const pages = new Map<string, Page>([['README.md', pageOf('README.md', 'Home', '')]])
  for (const { title, pages: files } of sidebar) {
    for (const entry of files) {
      const [file, name] = typeof entry === 'string' ? [entry] : entry
      if (pages.has(file)) problems.push(`${file}: in the sidebar twice`)
      else if (!existsSync(join(root, file))) problems.push(`${file}: in the sidebar, and not in the project`)
      else pages.set(file, pageOf(file, name, title))
    }
  }
  for (const file of filesIn('docs')) {
    if (file.endsWith('.md') && !file.startsWith('docs/examples/') && !pages.has(file))
      problems.push(`${file}: not in the sidebar (docs/site/sidebar.ts)`)
  }

  const resolve: Site['resolve'] = (from, href) => {
    const [path = '', anchor] = href.split('#')
    const file = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from.file), path).replace(/\/$/, '')
    const target = path === '' ? from : find(file)
    if (target === undefined) return { problem: `${href} leads nowhere` }
    if (anchor === undefined) return { to: target.to }
    const known = target.reading?.parts.some((part: Part) => part.anchor === anchor)
    return known ? { to: `${target.to}#${anchor}` } : { problem: `${target.file} has no heading for #${anchor}` }
  }

  /** The page of a file or a folder, which is made when the first link leads there. */
  function find(file: string): Page | undefined {
    const known = pages.get(file) ?? pages.get(`${file}/`) ?? pages.get(posix.join(file, 'README.md'))
    if (known !== undefined || !existsSync(join(root, file))) return known
    const page = isFolder(file) ? folderOf(file) : fileOf(file)
    pages.set(page.file, page)
    for (const entry of page.entries ?? []) find(entry)
    return page
  }
  return { pages, problems, resolve }
}

/** The path from one page to another. */
export function relative(from: string, to: string): string {
  const path = posix.relative(dirname(from), to.replace(/#.*/, ''))
  const anchor = /#.*/.exec(to)?.[0] ?? ''
  return from === to.replace(/#.*/, '') && anchor !== '' ? anchor : `${path || posix.basename(from)}${anchor}`
}
