import { createHash } from 'node:crypto'
import { accessSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { FileNotFoundError, presetHeaders, type Request, type Response, sendFailure } from '../../../kernel/index.ts'
import { baseStyle, htmlPage, linkedStyle, pagePolicy } from '../../shared/pages/shell.ts'
import { Memoized } from '../../shared/values/memoize.ts'

interface Asset {
  readonly type: string
  readonly read: () => Promise<Uint8Array>
}

// Everything is loaded from this server, and no part of a query can run as a script.
const policy = pagePolicy({
  'script-src': "'self'",
  // The editor uses style attributes for measuring and colours.
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
})
const pageHeaders = presetHeaders({
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Accept',
})
const assetHeaders = presetHeaders({
  // A file whose content changes gets another name.
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
})

/** Finds the package `graphiql` (version 3); without it, the page explains how to install it. */
export function openPage() {
  const assets = assetsOf()
  const names = [...assets.keys()]
  return {
    /** Responds with the page. */
    answer(req: Request, res: Response): unknown {
      // A relative path, so that the page works behind a proxy that removes a part of the path.
      const folder = req.path.endsWith('/') ? 'assets/' : `${req.path.slice(req.path.lastIndexOf('/') + 1)}/assets/`
      return res.setHeaders(pageHeaders).html(names.length === 0 ? hint : page(names.map((name) => folder + name)))
    },
    /** Responds with one of its files. */
    async asset(req: Request, res: Response): Promise<unknown> {
      const asset = assets.get(req.params.file ?? '')
      if (asset === undefined) return sendFailure(req, res, FileNotFoundError(), { body: undefined })
      const bytes = await asset.read()
      return res.setHeaders(assetHeaders).setHeader('content-type', asset.type).bytes(bytes)
    },
  }
}

/** The files of the page by their names; none without the package, or with a version that has a different structure. */
function assetsOf(): Map<string, Asset> {
  const script = Buffer.from(`'use strict'\n{\n${readFileSync(new URL('./page.js', import.meta.url), 'utf8')}}\n`)
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 8)
  try {
    const manifest = createRequire(import.meta.url).resolve('graphiql/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    // React as resolved from the package itself, which may differ from the application's React.
    const folderOf = (name: string) => dirname(createRequire(manifest).resolve(`${name}/package.json`))
    const files = [
      join(folderOf('react'), 'umd/react.production.min.js'),
      join(folderOf('react-dom'), 'umd/react-dom.production.min.js'),
      join(dirname(manifest), 'graphiql.min.js'),
      join(dirname(manifest), 'graphiql.min.css'),
    ]
    const assets = files.map((path): [string, Asset] => {
      accessSync(path)
      const [, name, extension] = /([\w-]+)(?:\.production)?\.min\.(js|css)$/.exec(path)!
      const bytes = new Memoized(() => readFile(path))
      const type = extension === 'js' ? scriptType : 'text/css; charset=utf-8'
      return [`${name}-${version}.${extension}`, { type, read: () => bytes.get() }]
    })
    return new Map([...assets, [`page-${hash}.js`, { type: scriptType, read: async () => script }]])
  } catch {
    return new Map()
  }
}

const scriptType = 'text/javascript; charset=utf-8'

// On a phone, the response is shown below the query: side by side, neither would be readable.
const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8')

function page(urls: readonly string[]): string {
  const head = urls.map((url) => (url.endsWith('.css') ? linkedStyle(url) : `<script src="${url}" defer></script>`))
  const body = '<div id="graphiql"></div><noscript>This page needs JavaScript.</noscript>'
  return htmlPage({ title: 'GraphiQL', head: `<style>${style}</style>\n${head.join('\n')}`, body })
}

const hint = htmlPage({
  title: 'GraphQL',
  head: `<style>${baseStyle}body { font-size: 1rem; margin: 4rem auto; max-width: 40rem; padding: 0 1rem }</style>`,
  body: `<main>
<h1>GraphQL</h1>
<p>Send queries here with POST and the content type application/json.</p>
<p>For the GraphiQL page in this place: <code>npm install --save-dev graphiql@3</code>, and start the server again.</p>
</main>`,
})
