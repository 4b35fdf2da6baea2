import { escapeHtml } from '../../toolkit/html.ts'

/** The parts of the page. */
export interface Page {
  readonly title: string
  /** The full path of the page; links are relative to it, so that the page works under a prefix that a proxy removes. */
  readonly path: string
  /** Part of the addresses of the files, which browsers cache permanently. */
  readonly version: string
}

/** The last segment of a path: links relative to the page begin with it. */
const base = (path: string) => `${path.slice(path.lastIndexOf('/') + 1)}/`

const head = (title: string, more = '') => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${more}</head>
`

export function pageHtml({ title, path, version }: Page): string {
  const from = escapeHtml(base(encodeURI(path)))
  const file = (name: string) => `${from}ui/${name}?v=${escapeHtml(encodeURIComponent(version))}`
  const styles = ['swagger-ui.css', 'page.css'].map((name) => `<link rel="stylesheet" href="${file(name)}">\n`)
  return `${head(title, styles.join(''))}<body>
<div id="page"><noscript>This page needs JavaScript. The description: <a href="${from}json">JSON</a>, <a href="${from}yaml">YAML</a>.</noscript></div>
<script src="${file('swagger-ui-bundle.js')}"></script>
<script src="${file('page.js')}" data-from="${from}" data-path="${escapeHtml(encodeURI(path))}"></script>
</body>
</html>
`
}

const style = '<style>body { font: 1rem/1.5 system-ui; margin: 4rem auto; max-width: 40rem; padding: 0 1rem }</style>\n'

/** The page that is shown if its package is not installed. */
export function missingHtml({ title, path }: Pick<Page, 'title' | 'path'>, why: string): string {
  const from = escapeHtml(base(encodeURI(path)))
  return `${head(title, style)}<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(why)}</p>
<p>The description itself is available: <a href="${from}json">JSON</a>, <a href="${from}yaml">YAML</a>.</p>
</body>
</html>
`
}
