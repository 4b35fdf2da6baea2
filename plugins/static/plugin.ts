import {
  defineError,
  definePlugin,
  FileNotFoundError,
  OptionError,
  type Request,
  type Response,
} from '../../kernel/index.ts'
import { answerFile } from './answer.ts'
import { findFile } from './find.ts'
import { type StaticOptions, type StaticSettings, settingsOf } from './options.ts'
import { below, hasDotfile, segmentsOf } from './path.ts'

export const FileForbiddenError = defineError(
  'FileForbiddenError',
  403,
  () => 'files whose name begins with a dot are not served',
)

/**
 * Serves the files of a folder, or of several, for GET and HEAD: where no route answers, behind all middlewares.
 *
 * Under the prefix `/` a missing file is what it would be without the plugin; under another one it is 404
 * `FileNotFoundError`. Ranges, conditional requests and types are taken care of; folders are never listed.
 *
 * @example
 * new Server({ plugins: { static: [{ root: 'public' }, { root: 'dist/assets', prefix: '/assets', maxAge: '1y', immutable: true }] } })
 */
export const staticFiles = definePlugin({
  name: 'static',
  setup(ctx, options: StaticOptions | readonly StaticOptions[]) {
    if (ctx.prefix.includes(':')) throw OptionError('static.prefix', ctx.prefix, 'no scope whose prefix has parameters')
    for (const settings of settingsOf(options)) {
      const prefix = joined(ctx.prefix, settings.prefix)
      ctx.fallback(settings.prefix, fileServer(settings, segmentsIn(prefix)))
      ctx.onRoute(function warnOfHiding(route) {
        if (route.method !== 'GET' || !route.path.endsWith('/*') || !`${prefix}/`.startsWith(route.path.slice(0, -1)))
          return
        ctx.log.warn(`GET ${route.path} answers before the files of ${settings.root}: none of them is served`)
      })
    }
  },
})

function joined(scope: string, prefix: string): string {
  return scope + (prefix === '/' ? '' : prefix)
}

function segmentsIn(prefix: string): string[] {
  return prefix.split('/').filter((segment) => segment !== '')
}

function fileServer(settings: StaticSettings, prefix: readonly string[]) {
  const fallsThrough = prefix.length === 0
  return function staticFiles(req: Request, res: Response): void | Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return undefined
    const segments = segmentsOf(req.path)
    const inside = segments === undefined ? undefined : below(prefix, segments)
    if (inside === undefined) return miss(fallsThrough)
    if (settings.dotfiles !== 'allow' && hasDotfile(inside)) {
      if (settings.dotfiles === 'deny') throw FileForbiddenError()
      return miss(fallsThrough)
    }
    return serve(settings, inside, req, res, fallsThrough)
  }
}

function miss(fallsThrough: boolean): void {
  if (!fallsThrough) throw FileNotFoundError()
}

async function serve(
  settings: StaticSettings,
  segments: readonly string[],
  req: Request,
  res: Response,
  fallsThrough: boolean,
): Promise<void> {
  const found = await findFile(settings, segments)
  if (found === undefined || found === 'folder') miss(fallsThrough)
  else if (found === 'redirect') redirect(req, res)
  else await answerFile(settings, found, req, res)
}

/** A path of this server: it begins with one slash, since empty segments were refused before (serve-static GHSA-cm22-4g7w-348p). */
function redirect(req: Request, res: Response): void {
  const query = new URL(req.url).search
  res.redirect(`${req.path}/${query}`, 301)
}
