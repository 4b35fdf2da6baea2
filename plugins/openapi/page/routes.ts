import { join } from 'node:path'
import { FileNotFoundError, type Handler, type Logger, type Response } from '../../../kernel/index.ts'
import { sendWritten } from '../../toolkit/description/written.ts'
import { entityTag, isKnown } from '../../toolkit/validators.ts'
import type { ApiDescription } from '../service.ts'
import { type Assets, assetNames, findAssets } from './assets.ts'
import { pageScript, pageStyle } from './files.ts'
import { missingHtml, pageHtml } from './html.ts'

/** For servers without a policy of their own: only scripts and styles of this server, requests to any address in `servers`. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self' http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The page's own files, in addition to those of the package. */
const ownFiles: ReadonlyMap<string, string> = new Map([
  ['page.js', pageScript],
  ['page.css', pageStyle],
])
const ownVersion = entityTag([...ownFiles.values()].join('')).slice(1, 12)

const forEver = 'public, max-age=31536000, immutable'

/**
 * The handlers of the page and its files.
 *
 * Without the package the page answers 501 with the installation command; the document still works.
 */
export async function pageRoutes(
  service: ApiDescription,
  path: string,
  log: Logger,
): Promise<{ page: Handler; asset: Handler }> {
  let assets: Assets | undefined
  let why = ''
  try {
    assets = await findAssets()
  } catch (error) {
    why = error instanceof Error ? error.message.replace(/^[A-Z_]+: /, '') : String(error)
    // A missing package is not a failure of the code, so its stack would not help.
    const missing = error instanceof Error && error.name === 'PeerMissingError'
    log.warn(missing ? {} : { err: error }, `the page at ${path} is not available: ${why}`)
  }
  const version = `${assets?.version ?? ''}-${ownVersion}`

  return {
    page: function openapiPage(req, res) {
      // Links are relative to a page without a trailing slash.
      if (req.path.endsWith('/')) return res.redirect(`../${encodeURI(path.slice(path.lastIndexOf('/') + 1))}`, 308)
      secure(res)
      const { title } = service.document().info
      if (assets === undefined) return res.status(501).html(missingHtml({ title, path }, why))
      const text = pageHtml({ title, path, version })
      return sendWritten(req, res, 'html', { text, etag: entityTag(text) })
    },
    asset: async function openapiAsset(req, res) {
      const { file } = req.params as { file: string }
      const own = ownFiles.get(file)
      if (own === undefined && (assets === undefined || !assetNames.has(file))) {
        throw FileNotFoundError()
      }
      secure(res)
      const tag = `"${version}-${file}"`
      res.header('etag', tag).header('cache-control', req.query.v === version ? forEver : 'no-cache')
      if (isKnown(req.headers, { etag: tag })) return res.status(304).send()
      return own === undefined
        ? res.file(join(assets!.folder, file))
        : res.type(file.slice(file.lastIndexOf('.') + 1)).bytes(Buffer.from(own))
    },
  }
}

function secure(res: Response): void {
  if (res.getHeader('content-security-policy') === undefined)
    res.header('content-security-policy', contentSecurityPolicy)
  res.header('x-content-type-options', 'nosniff')
}
