import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'
import { build } from 'esbuild'
import { collect, type Page, relative, type Site } from './collect.ts'
import { codeBlock, codeOf, codesOf, escapeHtml, renderMarkdown } from './markdown.ts'
import { llms, searchIndex } from './readers.ts'
import { generated, sidebar } from './sidebar.ts'
import { inOrder, layout, name, root } from './template.ts'
import { readTypes } from './types.ts'

/** Why there is no site; the message says it all. */
export class Refused extends Error {}

/** How the site is written. */
export interface Writing {
  /** The path under which it will be served, which the page for unknown paths cannot find out by itself: `/`. */
  readonly base?: string
  /** Which pages show types under the pointer: all. Types of all pages take a minute, so tests read those of the pages that they look at. */
  readonly isTyped?: (page: Page) => boolean
  /** Which pages have code in colours: all. They take a third of the time of the rest. */
  readonly isColoured?: (page: Page) => boolean
}

/** Writes the site into a folder. */
export async function writeSite(
  out: string,
  { base = '/', isTyped = () => true, isColoured = () => true }: Writing = {},
): Promise<Site> {
  // Only a folder that the last build has written is removed.
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, 'llms-full.txt')))
    throw new Refused(`--out takes a folder that is empty, new or from the last build; ${out} has other files in it`)

  const site = collect(root, sidebar, generated())
  if (site.problems.length > 0) throw new Refused(site.problems.join('\n'))

  // The pages of the reference are signatures, which say their types themselves.
  const texts = inOrder(site).filter((page) => !generated().has(page.file) && isTyped(page))
  const typesOf = readTypes(texts.flatMap(({ file, reading }) => codesOf(reading!.tokens, file)))
  const written = new Set<string>()

  function write(path: string, text: string) {
    if (written.has(path)) throw new Error(`${path} would be written twice`)
    written.add(path)
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), text)
  }

  /** Puts a drawing of ours into the page as SVG, so that it has the colours of the page; on its own, it has colours of its own. */
  function drawing(page: Page, href: string, alt: string): string {
    const file = posix.join(posix.dirname(page.file), href)
    if (alt.length < 20) throw new Error(`${page.file}: ${href} needs a text that says what it shows`)
    if (extname(file) !== '.svg') {
      copy(file)
      return `<img src="${escapeHtml(relative(page.to, file))}" alt="${escapeHtml(alt)}" loading="lazy">`
    }
    const svg = readFileSync(join(root, file), 'utf8').replace(/<style>[\s\S]*?<\/style>\s*/, '')
    copy(file)
    return `<span class="drawing">${svg.replace('<svg ', `<svg role="img" aria-label="${escapeHtml(alt)}" `).trim()}</span>`
  }

  function copy(file: string) {
    mkdirSync(dirname(join(out, file)), { recursive: true })
    copyFileSync(join(root, file), join(out, file))
  }

  function article(page: Page): string {
    const link = (href: string) => relative(page.to, site.resolve(page, href))
    if (page.code !== undefined) {
      const language = { '.yml': 'yaml', '.conf': 'nginx', '.service': 'ini', '.svg': 'html' }[extname(page.file)]
      const code = codeBlock(page.code, isColoured(page) ? (language ?? extname(page.file).slice(1)) : '')
      return `<h1>${escapeHtml(page.title)}</h1>\n${code}`
    }
    if (page.entries !== undefined) {
      const items = page.entries.map((entry) => {
        const one = site.pages.get(entry)!
        const path = entry.slice(page.file.length)
        const description = one.reading ? `: ${escapeHtml(one.description)}` : ''
        return `<li><a href="${relative(page.to, one.to)}">${escapeHtml(path)}</a>${description}</li>`
      })
      return `<h1>${escapeHtml(page.title)}</h1>\n<p>The files of <code>${page.file}</code>.</p>\n<ul>${items.join('\n')}</ul>`
    }
    const images = (href: string, alt: string) => drawing(page, href, alt)
    const typesIn = (token: Parameters<typeof codeOf>[0]) => {
      const code = codeOf(token, page.file)
      return code && typesOf(code)
    }
    const html = renderMarkdown(page.reading!.tokens, link, images, typesIn, isColoured(page))
    if (page.file !== 'README.md') return html
    const actions = [
      ['Get started', 'docs/getting-started.md'],
      ['Recipes', 'docs/recipes/README.md'],
      ['Guides', 'docs/guides/README.md'],
      ['Reference', 'docs/reference/README.md'],
    ].map(([words, to]) => `<a href="${link(to!)}">${words}</a>`)
    return html.replace('</p>', `</p>\n<p class="actions">${actions.join(' ')}</p>`)
  }

  rmSync(out, { recursive: true, force: true })
  for (const page of site.pages.values()) {
    const up = relative(page.to, 'x').slice(0, -1)
    write(page.to, layout(page, article(page), site, up))
    // The copy of an HTML file would itself be a page of the site.
    const text = generated().get(page.file)
    if (text !== undefined) write(page.file, text)
    else if (page.entries === undefined && !page.file.endsWith('.html')) copy(page.file)
  }

  const unknown: Page = {
    file: '404.html',
    to: '404.html',
    title: 'Page not found',
    name: '404',
    description: 'No page of the site has this address.',
  }
  const words = `<h1>Page not found</h1>
<p>No page has this address. <a href="${base}index.html">Begin at the first page</a>, or search with <kbd>/</kbd>.</p>`
  // It is served for paths of any depth, so nothing in it may be relative.
  const page404 = layout(unknown, words, site, base)
  write('404.html', page404.replaceAll(/(?<=href=")(?=(?:docs|benchmarks|[A-Z]+)[/.])/g, base))

  write('assets/search.json', searchIndex(inOrder(site)))
  for (const [path, text] of Object.entries(llms(name, inOrder(site)))) write(path, text)
  write('assets/site.css', readFileSync(join(import.meta.dirname, 'client/site.css'), 'utf8'))
  write('assets/icon.svg', readFileSync(join(import.meta.dirname, 'client/icon.svg'), 'utf8'))
  copyFileSync(join(import.meta.dirname, 'client/card.png'), join(out, 'assets/card.png'))
  const client = (file: string) => join(import.meta.dirname, 'client', file)
  await build({
    entryPoints: [client('site.ts'), client('theme.ts')],
    outdir: join(out, 'assets'),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    logLevel: 'warning',
  })

  return site
}
