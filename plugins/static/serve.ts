import { defineErrors, FileNotFoundError, type Request, type Response } from '../../kernel/index.ts'
import { prefersPage } from '../shared/failures/page.ts'
import { findFile, findIndex } from './find.ts'
import type { StaticSettings } from './options.ts'
import { below, segmentsOf } from './path.ts'
import { sendFound } from './send.ts'

export const { FileForbiddenError } = defineErrors({
  FileForbiddenError: [403, () => 'files whose name begins with a dot are not served'],
})

/** Serves the files of one root, below the segments of its prefix. */
export function fileServer(settings: StaticSettings, prefix: readonly string[]) {
  const miss = (): void => {
    if (prefix.length > 0) throw FileNotFoundError()
  }
  const serve = async (segments: readonly string[], req: Request, res: Response): Promise<void> => {
    let found = await findFile(settings, segments)
    if (found === undefined && settings.spa && !segments.at(-1)?.includes('.')) {
      res.vary('Accept')
      if (prefersPage(req)) found = await findIndex(settings, [])
    }
    if (found === undefined) miss()
    else if (found === 'redirect') redirect(req, res)
    else await sendFound(settings, found, req, res)
  }
  return function staticFiles(req: Request, res: Response): void | Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return undefined
    const segments = segmentsOf(req.path)
    const inside = segments === undefined ? undefined : below(prefix, segments)
    if (inside === undefined) return miss()
    if (settings.dotfiles !== 'allow' && inside.some((segment) => segment.startsWith('.'))) {
      if (settings.dotfiles === 'deny') throw FileForbiddenError()
      return miss()
    }
    return serve(inside, req, res)
  }
}

/** Redirects within this server: the path begins with one slash, as empty segments are refused (serve-static GHSA-cm22-4g7w-348p). */
function redirect(req: Request, res: Response): void {
  res.redirect(`${req.path}/${new URL(req.url).search}`, 301)
}
