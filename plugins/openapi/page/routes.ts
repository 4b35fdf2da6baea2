import { FileNotFoundError, type Handler, type Response } from '../../../kernel/index.ts'
import { sendWritten } from '../../shared/descriptions/written.ts'
import { entityTag, isKnown } from '../../shared/http/validators.ts'
import type { ApiDescription } from '../service.ts'
import { pageHtml } from './html.ts'
import { pageScript } from './script.ts'
import { pageStyle } from './style.ts'

/** For servers without a policy of their own: only the scripts and styles of this server, requests to any address in `servers`. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self' http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

const files: ReadonlyMap<string, string> = new Map([
  ['page.js', pageScript],
  ['page.css', pageStyle],
])
const version = entityTag([...files.values()].join('')).slice(1, 12)

const forEver = 'public, max-age=31536000, immutable'

/** The handlers of the page and its files. */
export function pageRoutes(service: ApiDescription, path: string): { page: Handler; asset: Handler } {
  return {
    page: function openapiPage(req, res) {
      // Links are relative to a page without a trailing slash.
      if (req.path.endsWith('/')) return res.redirect(`../${encodeURI(path.slice(path.lastIndexOf('/') + 1))}`, 308)
      secure(res)
      const text = pageHtml({ title: service.document().info.title, path, version: encodeURIComponent(version) })
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
