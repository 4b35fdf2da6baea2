import { readFileSync } from 'node:fs'
import { FileNotFoundError, type Handler, type Response } from '../../../kernel/index.ts'
import { sendWritten } from '../../shared/descriptions/document-service.ts'
import { entityTag, isKnown } from '../../shared/http/validators.ts'
import {
  baseStyle,
  elementsScript,
  escapeHtml,
  htmlPage,
  linkedStyle,
  pagePolicy,
  skipLink,
} from '../../shared/pages/shell.ts'
import type { ApiDescription } from '../types.ts'

/** For servers without a policy of their own: only the scripts and styles of this server, requests to any address in `servers`. */
const contentSecurityPolicy = pagePolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': 'data:',
  'connect-src': "'self' http: https:",
  'frame-ancestors': "'self'",
})

const files: ReadonlyMap<string, string> = new Map([
  ['page.js', `'use strict'\n{${elementsScript}${readFileSync(new URL('./page.js', import.meta.url), 'utf8')}}\n`],
  ['page.css', baseStyle + readFileSync(new URL('./page.css', import.meta.url), 'utf8')],
])
/** Part of the addresses of the files, which browsers cache permanently. */
const version = entityTag([...files.values()].join('')).slice(1, 12)

const forEver = 'public, max-age=31536000, immutable'

/** The handlers of the page and its files. */
export function pageRoutes(service: ApiDescription, path: string): { page: Handler; asset: Handler } {
  return {
    page: function openapiPage(req, res) {
      // Links are relative to a page without a trailing slash.
      if (req.path.endsWith('/')) return res.redirect(`../${encodeURI(path.slice(path.lastIndexOf('/') + 1))}`, 308)
      secure(res)
      const text = pageHtml(service.document().info.title, path)
      return sendWritten(req, res, 'html', { text, etag: entityTag(text) })
    },
    asset: function openapiAsset(req, res) {
      const { file } = req.params as { file: string }
      const text = files.get(file)
      if (text === undefined) throw FileNotFoundError()
      secure(res)
      const tag = `"${version}-${file}"`
      res.header('etag', tag).header('cache-control', req.query.v === version ? forEver : 'no-cache')
      if (isKnown(req.headers, { etag: tag })) return res.status(304).send()
      return res.type(file.slice(file.lastIndexOf('.') + 1)).bytes(Buffer.from(text))
    },
  }
}

function secure(res: Response): void {
  if (res.getHeader('content-security-policy') === undefined)
    res.header('content-security-policy', contentSecurityPolicy)
  res.header('x-content-type-options', 'nosniff')
}

/** The page. Links are relative to its full path, so that it works under a prefix that a proxy removes. */
function pageHtml(title: string, path: string): string {
  // Links relative to the page begin with the last segment of its path.
  const from = escapeHtml(encodeURI(`${path.slice(path.lastIndexOf('/') + 1)}/`))
  const file = (name: string) => `${from}ui/${name}?v=${encodeURIComponent(version)}`
  const body = `${skipLink}
<header>
<h1>${escapeHtml(title)}</h1>
<span id="version" class="dim"></span>
<nav aria-label="The description"><a href="${from}json">JSON</a><a href="${from}yaml">YAML</a></nav>
</header>
<main id="main" tabindex="-1"><noscript>This page needs JavaScript. The description is available as JSON and YAML.</noscript></main>
<script src="${file('page.js')}" data-from="${from}" data-path="${escapeHtml(encodeURI(path))}"></script>`
  return htmlPage({ title, head: linkedStyle(file('page.css')), body })
}
