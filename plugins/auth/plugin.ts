import { definePlugin, type Request, sendFailure } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import type { AccessDemands, GuardedWay } from '../shared/development/access.ts'
import { openConnections } from '../shared/http/connections.ts'
import { RouteValue, routesWithSessions } from '../shared/http/route-value.ts'
import { admissionsOf } from '../shared/http/subject.ts'
import { addLogFields } from '../shared/logging/log-fields.ts'
import { type AuthRule, type AuthSettings, authOfRoute, authOptions, ruleOf, rulesOfScopes } from './options.ts'
import { AuthSetupError, type AuthSubject } from './scheme.ts'
import { Auth } from './service.ts'

// For other plugins: the entry point also has the types of jose, which not everyone has installed.
export type { AuthSubject }

/** The rule of each route, with the service that applies it: the innermost scope decides. */
const rules = new RouteValue<{ readonly rule: AuthRule; readonly by: Auth }>()

/**
 * Authenticates requests by the schemes of the application, and sets `req.user`. A route requires a credential unless its option `auth` or the
 * plugin's option `default` says otherwise; a wrong credential is always refused, with 401 and `WWW-Authenticate`.
 *
 * @example
 * import { Server } from 'framework'
 * import { bearer } from 'framework/plugins/auth'
 *
 * const server = new Server({
 *   plugins: { auth: { schemes: { token: bearer((token) => (token === process.env.TOKEN ? { id: 'ci' } : undefined)) } } },
 * })
 * server.get('/deploys', () => [])
 * server.get('/about', { auth: false }, () => 'a shop')
 */
export const auth = definePlugin({
  name: 'auth',
  access: { guards },
  options: authOptions,
  routeOptions: { auth: authOfRoute },
  openapi: { failures, security },
  inspector: () => [
    {
      title: 'Authentication of routes',
      columns: ['Route', 'Credential', 'Schemes', 'Scopes'],
      rows: (services) =>
        (rulesOfScopes.get(services) ?? []).map(({ route, rule: { mode, schemes, scopes } }) => [
          route,
          mode === false ? 'not read' : mode,
          mode === false ? '' : schemes.map(([name]) => name).join(', '),
          scopes.join(' '),
        ]),
    },
  ],
  provide: (settings) => ({ auth: new Auth(settings) }),
  async setup(ctx, settings) {
    const service = ctx.services.get('auth')
    for (const [name, scheme] of Object.entries(settings.schemes)) {
      for (const needed of scheme.dependencies ?? [])
        if (!ctx.hasPlugin(needed))
          throw AuthSetupError(
            `the scheme "${name}" needs the plugin "${needed}". Register it before auth: plugins: { ${needed}: … }`,
          )
      await scheme.prepare?.(service)
    }
    service.connections = openConnections(ctx)
    service.connections.name((req) => service.holdsOf(req))
    const shown: { route: string; rule: AuthRule }[] = []
    rulesOfScopes.set(ctx.services, shown)
    const unmatched = { rule: ruleOf(settings), by: service }
    ctx.onRoute((route) => {
      const rule = ruleOf(settings, route.options)
      if (rule.mode !== false && rule.schemes.length === 0)
        throw AuthSetupError('only websockets accept the schemes of its option auth')
      const hasSessions = rule.schemes.some(([, { dependencies }]) => dependencies?.includes('session'))
      if (rule.mode !== false && hasSessions && !routesWithSessions.has(route))
        throw AuthSetupError('its sessions are loaded after auth, which reads them. Register session before auth')
      rules.set(route, { rule, by: service })
      shown.push({ route: `${route.method} ${route.path}`, rule })
    })
    service.ruleOf = (req) => {
      const { rule, by } = rules.of(req) ?? unmatched
      return by === service && rule.mode !== false ? rule : undefined
    }
    ctx.onClose(
      addLogFields((request) => {
        const user = request && service.grantedTo(request as Request)?.name
        return user === undefined ? undefined : { user }
      }),
    )

    const varying = Object.values(settings.schemes).filter(({ opensSockets }) => !opensSockets)
    const headers = [...new Set(varying.map(({ header }) => header))].join(', ')
    const admissions = admissionsOf(ctx.services)
    ctx.use(async function auth(req: Request & { user?: AuthSubject }, res, next) {
      const rule = service.ruleOf(req)
      if (rule === undefined || (admissions.length > 0 && admissions.some((admits) => admits(req)))) return next()
      const { subject, refusal } = await service.settle(req, rule)
      // A cache must not give the response for one caller to another.
      res.vary(headers)
      if (refusal === undefined) {
        if (subject !== undefined) req.user = subject
        return next()
      }
      res.header('www-authenticate', refusal.challenge)
      sendFailure(req, res, refusal.error)
    })
  },
})

/** What a request must have, for `framework access`. */
function guards({ options, settings }: GuardedWay): AccessDemands {
  const { mode, schemes, scopes } = ruleOf(settings as AuthSettings, options)
  return { credential: { mode, schemes: schemes.map(([name]) => name), scopes } }
}

const described = ({ options, settings }: DescribedRoute): AuthRule => ruleOf(settings as AuthSettings, options)

/** The refusals, for the API description. */
function failures(route: DescribedRoute): { readonly [status: string]: string } {
  const { mode, scopes } = described(route)
  return mode === false ? {} : { 401: 'Unauthorized', ...(scopes.length > 0 && { 403: 'Forbidden' }) }
}

/** The schemes of a route, one of which is enough. */
function security(route: DescribedRoute) {
  const { mode, schemes, scopes } = described(route)
  if (mode === false) return { schemes: {}, requirements: [] }
  return {
    schemes: Object.fromEntries(schemes.map(([name, { description }]) => [name, description])),
    requirements: [...schemes.map(([name]) => ({ [name]: scopes })), ...(mode === 'optional' ? [{}] : [])],
  }
}
