import { existsSync } from 'node:fs'
import { RouteCollection, Server } from 'framework'

const routes = new RouteCollection()
routes.group('/api', (api) => {
  api.get('/books', () => [{ title: 'Kindred' }])
})

const built = new URL('dist', import.meta.url)

export function makeServer(options: { port?: number; host?: string } = {}) {
  return new Server({
    ...options,
    router: routes,
    plugins: {
      helmet: true,
      compression: true,
      // In production, this server also sends the page. Names of assets have a hash: a browser need never ask again.
      static: existsSync(built) && {
        root: built,
        spa: true,
        setHeaders(res, path) {
          if (path.includes('/assets/')) res.setHeader('cache-control', 'public, max-age=31536000, immutable')
        },
      },
    },
  })
}
