import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, type Reading, readMarkdown } from './markdown.ts'
import type { Section } from './sidebar.ts'

/** What becomes one page of the site: a page of the documentation, or a file or a folder to which one of them links. */
export interface Page {
  /** The path from the project's folder; a folder ends with a slash. */
  readonly file: string
  /** The path on the site. The site has the same folders as the project, so the Markdown pages can be on it, too, with working links. */
  readonly to: string
  readonly title: string
  /** The name of the page in the sidebar. */
  readonly name: string
  readonly description: string
  /** The section of the sidebar; absent for files and folders. */
  readonly section?: string
  readonly kind?: Section['kind']
  readonly reading?: Reading
  /** The code of a file. */
  readonly code?: string
  /** The files in a folder. */
  readonly entries?: readonly string[]
}

export interface Site {
  /** The pages by `file`; those of the sidebar come first, in its order. */
  readonly pages: ReadonlyMap<string, Page>
  /** Links that lead nowhere, and pages that readers would not find. */
  readonly problems: readonly string[]
  /** Returns the address to which a link leads, relative to the root of the site. */
  resolve(from: Page, href: string): string
}

/** Collects all pages of the documentation in a folder, and whatever they link to. */
export function collect(
  root: string,
  sidebar: readonly Section[],
  generated: ReadonlyMap<string, string> = new Map(),
): Site {
  const problems: string[] = []
  const pages = new Map<string, Page>()
  const read = (file: string) => generated.get(file) ?? readFileSync(join(root, file), 'utf8')
  const isFolder = (file: string) => statSync(join(root, file)).isDirectory()
  /** The files below a folder. Files of packages, hidden files and the site's own files are not for readers. */
  const filesIn = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
      .filter((file) => !/(^|\/)(node_modules|\.[^/]+)\/|^docs\/site\//.test(file) && !isFolder(file))
      .sort()

  function addPage(file: string, section: string, name?: string, kind?: Section['kind']) {
    const reading = readMarkdown(read(file))
    const titles = reading.parts.filter(({ level, heading }) => level === 1 && heading !== '')
    const title = titles.length === 1 ? titles[0]!.heading : (name ?? file)
    const to = file.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html')
    const description = describe(reading.tokens)
    pages.set(file, { file, to, title, name: name ?? title, description, section, reading, ...(kind && { kind }) })
  }
  addPage('README.md', '')
  for (const { title, kind, pages: files } of sidebar) {
    for (const entry of files) {
      const [file, name] = typeof entry === 'string' ? [entry] : entry
      if (pages.has(file)) problems.push(`${file} is in the sidebar twice`)
      else if (!generated.has(file) && !existsSync(join(root, file)))
        problems.push(`${file} is in the sidebar and does not exist`)
      else addPage(file, title, name, kind)
    }
  }
  for (const file of filesIn('docs')) {
    if (file.endsWith('.md') && !pages.has(file)) problems.push(`${file} is not in the sidebar (docs/site/sidebar.ts)`)
  }

  /** Returns the page of a file or a folder, which is made when the first link leads there. */
  function find(file: string): Page | undefined {
    const known = pages.get(file) ?? pages.get(`${file}/`) ?? pages.get(posix.join(file, 'README.md'))
    if (known !== undefined || file.startsWith('..') || !existsSync(join(root, file))) return known
    const title = posix.basename(file)
    if (isFolder(file)) {
      const entries = filesIn(file)
      const description = `The files of the folder ${file}.`
      pages.set(`${file}/`, { file: `${file}/`, to: `${file}/index.html`, title, name: title, description, entries })
      for (const entry of entries) find(entry)
    } else {
      const code = read(file).trimEnd()
      pages.set(file, { file, to: `${file}.html`, title, name: title, description: `The source of ${file}.`, code })
    }
    return find(file)
  }
  /** Returns the page and the anchor to which a link leads, or what is wrong with it. */
  function follow(from: Page, href: string): { page: Page; anchor: string } | string {
    const [path = '', anchor] = href.split('#')
    const file = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from.file), path).replace(/\/$/, '')
    const page = path === '' ? from : find(file)
    if (page === undefined) return `${href} leads nowhere`
    if (anchor === undefined) return { page, anchor: '' }
    if (page.reading === undefined)
      return `${href}: ${page.file} is shown as source; only pages of the sidebar have headings`
    const isKnown = page.reading.parts.some((part) => part.anchor === anchor)
    return isKnown ? { page, anchor: `#${anchor}` } : `${href}: ${page.file} has no such heading`
  }
  for (const page of [...pages.values()]) {
    for (const href of page.reading?.links ?? []) {
      const found = follow(page, href)
      if (typeof found !== 'string') continue
      const line = read(page.file)
        .split('\n')
        .findIndex((one) => one.includes(`](${href}`) || one.includes(`file=${href.slice(1)}`))
      problems.push(`${page.file}:${line + 1}: ${found}`)
    }
  }

  const resolve = (from: Page, href: string) => {
    const found = follow(from, href)
    if (typeof found === 'string') throw new Error(`${from.file}: ${found}`)
    return `${found.page.to}${found.anchor}`
  }
  return { pages, problems, resolve }
}

/** Returns the path from one page to another. */
export function relative(from: string, to: string): string {
  const [path = '', anchor] = to.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (from === path && hash !== '') return hash
  return `${posix.relative(posix.dirname(from), path) || posix.basename(path)}${hash}`
}
