import { escapeHtml } from '../../shared/values/html.ts'

/** The parts of the page. */
export interface Page {
  readonly title: string
  /** The full path of the page; links are relative to it, so that the page works under a prefix that a proxy removes. */
  readonly path: string
  /** Part of the addresses of the files, which browsers cache permanently. */
  readonly version: string
}

export function pageHtml({ title, path, version }: Page): string {
  // Links relative to the page begin with the last segment of its path.
  const from = escapeHtml(encodeURI(`${path.slice(path.lastIndexOf('/') + 1)}/`))
  const file = (name: string) => `${from}ui/${name}?v=${version}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file('page.css')}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>${escapeHtml(title)}</h1>
<span id="version" class="dim"></span>
<nav aria-label="The description"><a href="${from}json">JSON</a><a href="${from}yaml">YAML</a></nav>
</header>
<main id="main" tabindex="-1"><noscript>This page needs JavaScript. The description is available as JSON and YAML.</noscript></main>
<script src="${file('page.js')}" data-from="${from}" data-path="${escapeHtml(encodeURI(path))}"></script>
</body>
</html>
`
}
