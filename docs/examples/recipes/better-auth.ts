import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { RouteCollection, Server, webRequest } from 'framework'
import type { AuthScheme } from 'framework/plugins/auth'

export const baseURL = 'https://shop.example.org'

export function makeServer(database: BetterAuthOptions['database'], secret: string) {
  const library = betterAuth({
    baseURL,
    secret,
    database,
    emailAndPassword: { enabled: true },
    // With NODE_ENV=test, the library would otherwise accept requests of every page.
    advanced: { disableOriginCheck: false },
  })

  // The session of the library, as a scheme of the plugin auth.
  const members: AuthScheme = {
    challenge: 'Cookie',
    header: 'cookie',
    description: { type: 'apiKey', in: 'cookie', name: '__Secure-better-auth.session_token' },
    async authenticate(req) {
      if (!req.headers.cookie?.includes('better-auth.session_token=')) return undefined
      const found = await library.api.getSession({ headers: req.rawHeaders })
      return found === null ? { wrong: 'the session has ended' } : { subject: { id: found.user.id } }
    },
  }

  const routes = new RouteCollection()
  // The library reads the body, and decides itself who may call its routes.
  routes.any('/api/auth/*', { auth: false, json: false }, (req) => library.handler(webRequest(req)))
  routes.get('/me', { auth: 'required' }, (req) => ({ id: req.user.id }))
  return new Server({ router: routes, plugins: { auth: { schemes: { members } } } })
}
