import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Page, relative, type Site } from './collect.ts'
import { escapeHtml } from './markdown.ts'
import { sidebar } from './sidebar.ts'

export const root = join(import.meta.dirname, '../..')
const { name, version, repository, homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  version: string
  repository?: { url: string }
  homepage?: string
}
export { name }

/** Returns where a page is edited, once the package has a repository. Pages that are made from the sources have no file. */
export function editAddress({ file }: Pick<Page, 'file'>, url = repository?.url): string | undefined {
  if (url === undefined || file.startsWith('docs/api/')) return undefined
  return `${url.replace(/^git\+|\.git$/g, '')}/edit/main/${file}`
}

/** Allows nothing but the site's own files, whatever a page says. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

const icon = (path: string) =>
  `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`
const icons = {
  menu: icon('<path d="M4 7h16M4 12h16M4 17h16"/>'),
  search: icon('<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>'),
  theme: icon('<circle cx="12" cy="12" r="8"/><path d="M12 4v16a8 8 0 0 0 0-16z" fill="currentColor"/>'),
}

/** Returns the pages of the sidebar in its order, home first. */
export const inOrder = ({ pages }: Site) => [...pages.values()].filter(({ reading }) => reading !== undefined)

const isHome = ({ file }: Page) => file === 'README.md'

/** Returns a title that is unique on the site: “Errors” is a guide and a list of codes. */
export function titleOf(page: Page): string {
  if (isHome(page)) return `${name}: a server-side framework for TypeScript`
  const place = page.section ?? (page.entries === undefined ? page.file : `Files of ${page.file}`)
  return `${page.title} · ${place} · ${name}`
}

function navigation(page: Page, { pages }: Site): string {
  // For a file of the examples, the sidebar marks the page of the examples.
  const shown = page.file.startsWith('docs/examples/') ? pages.get('docs/examples/README.md')! : page
  return sidebar
    .map(({ title, pages: entries }) => {
      const links = entries.flatMap((entry) => {
        const one = pages.get(typeof entry === 'string' ? entry : entry[0])
        if (one === undefined) return []
        const current = one === shown ? ' aria-current="page"' : ''
        return `<li><a href="${relative(page.to, one.to)}"${current}>${escapeHtml(one.name)}</a></li>`
      })
      const open = shown.section === title || (isHome(page) && !title.startsWith('Plugins')) ? ' open' : ''
      return `<details${open}><summary>${title}</summary><ul>${links.join('')}</ul></details>`
    })
    .join('\n')
}

function contents({ reading }: Page): string {
  const parts = reading?.parts.filter(({ level }) => level === 2 || level === 3) ?? []
  if (parts.length < 2) return ''
  const links = parts.map(
    ({ level, heading, anchor }) => `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(heading)}</a></li>`,
  )
  return `<details class="contents" open><summary>On this page</summary><ul>${links.join('')}</ul></details>`
}

function neighbours(page: Page, site: Site): string {
  const order = inOrder(site)
  const at = order.indexOf(page)
  if (at < 0) return ''
  const link = (one: Page | undefined, kind: string, words: string) =>
    one === undefined
      ? ''
      : `<a class="${kind}" rel="${kind}" href="${relative(page.to, one.to)}"><small>${words}</small>${escapeHtml(one.title)}</a>`
  return `<nav class="neighbours" aria-label="Pages before and after">${link(order[at - 1], 'prev', 'Previous')}${link(order[at + 1], 'next', 'Next')}</nav>`
}

/** Programs that show links want the whole address of the image: that of the site, where the package names it. */
const image = homepage === undefined || homepage.endsWith('#readme') ? undefined : new URL('assets/card.png', homepage)

/** Returns what kind of page this is, and where in the sidebar. */
const placeOf = ({ kind, section }: Page) =>
  kind === undefined || section === kind || section === `${kind}s` ? (kind ?? section) : `${kind} · ${section}`

/** Writes the whole HTML of a page. `up` leads to the root of the site: `../` for a page in a folder. */
export function layout(page: Page, main: string, site: Site, up: string): string {
  const asMarkdown = page.reading && relative(page.to, page.file)
  const start = relative(page.to, 'docs/getting-started.html')
  const section = page.section === undefined ? posixFolder(page) : placeOf(page)
  const edit = editAddress(page)
  const kind = isHome(page) ? 'home' : page.reading ? 'text' : 'source'
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(titleOf(page))}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${escapeHtml(name)}">
<meta property="og:title" content="${escapeHtml(page.title)}">
<meta property="og:description" content="${escapeHtml(page.description)}">
<meta property="og:image" content="${image ?? `${up}assets/card.png`}">
<meta property="og:image:alt" content="One server: HTTP, queues, scheduled jobs and emails, in TypeScript on Node.js, Bun and Deno">
<meta name="twitter:card" content="summary_large_image">
<link rel="icon" type="image/svg+xml" href="${up}assets/icon.svg">
<link rel="stylesheet" href="${up}assets/site.css">
<script src="${up}assets/theme.js"></script>
<script type="module" src="${up}assets/site.js"></script>
${asMarkdown ? `<link rel="alternate" type="text/markdown" href="${asMarkdown}">` : ''}
</head>
<body class="${kind}">
<a class="skip" href="#main">Skip to the text</a>
<header>
<button class="menu" type="button" aria-expanded="false" aria-controls="sidebar" aria-label="Menu">${icons.menu}</button>
<a class="brand" href="${up}index.html"><img src="${up}assets/icon.svg" alt="" width="24" height="24">${escapeHtml(name)}<small>${version}</small></a>
<button class="search" type="button" aria-label="Search" aria-keyshortcuts="/ Control+K">${icons.search}<span>Search</span><kbd>/</kbd></button>
<nav class="top" aria-label="Parts"><a href="${start}">First steps</a><a href="${up}docs/recipes/index.html">Recipes</a><a href="${up}docs/guides/index.html">Guides</a><a href="${up}docs/reference/index.html">Reference</a><a href="${up}index.html#plugins">Plugins</a></nav>
<button class="theme" type="button" aria-label="Light or dark">${icons.theme}</button>
</header>
<div class="frame">
<nav id="sidebar" aria-label="All pages">${navigation(page, site)}</nav>
<main id="main" tabindex="-1">
${section && !isHome(page) ? `<p class="section">${escapeHtml(section)}</p>` : ''}
${page.reading ? contents(page) : ''}
${asMarkdown && !isHome(page) ? `<p class="page-actions" data-markdown="${asMarkdown}"><a href="${asMarkdown}">Markdown</a>${edit === undefined ? '' : `<a href="${edit}" rel="noreferrer">Edit this page</a>`}</p>` : ''}
<article>
${main}
</article>
${neighbours(page, site)}
</main>
</div>
</body>
</html>
`
}

const posixFolder = ({ file }: Page) => file.replace(/[^/]+\/?$/, '')
