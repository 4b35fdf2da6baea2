import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { definePlugin, OptionError } from '../../kernel/index.ts'
import type { AccessWay } from '../shared/development/access.ts'
import { announcePage } from '../shared/development/pages.ts'
import { realRoot } from '../shared/files/open-inside.ts'
import { type StaticSettings, staticOptions } from './options.ts'
import { segmentsOf } from './path.ts'

/**
 * Serves the files of one or more folders for GET and HEAD if no route responds, after all middlewares.
 *
 * Under the prefix `/`, a missing file is handled as without the plugin; under any other prefix with 404
 * `FileNotFoundError`. Supports ranges, conditional requests and types; folders are never listed.
 *
 * @example
 * new Server({ plugins: { static: [{ root: 'public' }, { root: 'dist/assets', prefix: '/assets', maxAge: '1y', immutable: true }] } })
 */
export const staticFiles = definePlugin({
  name: 'static',
  access: { ways },
  options: staticOptions,
  async setup(ctx, folders) {
    // Loads the modules for files only if files are served.
    const { fileServer } = await import('./serve.ts')
    for (const settings of folders) {
      const prefix = ctx.prefix + (settings.prefix === '/' ? '' : settings.prefix)
      if (settings.index.some((index) => existsSync(join(settings.root, index)))) {
        announcePage(ctx.server, 'pages', prefix.endsWith('/') ? prefix : `${prefix}/`)
      } else if (settings.spa) {
        throw OptionError('static.spa', true, `a root with an index file: ${settings.root} has none (the option index)`)
      }
      const root = await realRoot(settings.root)
      const segments = segmentsOf(prefix)!.filter((segment) => segment !== '')
      ctx.fallback(settings.prefix, fileServer({ ...settings, root }, segments))
      ctx.onRoute(function warnOfHiding(route) {
        if (route.method !== 'GET' || !route.path.endsWith('/*') || !`${prefix}/`.startsWith(route.path.slice(0, -1)))
          return
        ctx.log.warn(`GET ${route.path} handles these requests before the files of ${settings.root}: no file is served`)
      })
    }
  },
})

/** The folders, for `framework access`. */
function ways(folders: readonly StaticSettings[]): AccessWay[] {
  return folders.map(({ root, prefix, dotfiles, followSymlinks }) => ({
    method: 'GET',
    path: `${prefix.replace(/\/$/, '')}/*`,
    conditions: {
      [`files ${relative(process.cwd(), root) || '.'}`]: [
        ...(dotfiles === 'allow' ? ['dotfiles'] : []),
        ...(followSymlinks ? ['links'] : []),
      ],
    },
  }))
}
