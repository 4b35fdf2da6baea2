import { OptionError, type Request } from '../../../kernel/index.ts'
import { type AuthScheme, type AuthSubject, type Awaitable, ownVerdictOf } from '../scheme.ts'

/** Sessions: a scheme, and how they begin and end. */
export interface SessionScheme<Login> extends AuthScheme {
  /** Begins a session under a new id: an attacker may know the one from before. `login` is plain JSON, such as the id of the account. */
  logIn(req: Pick<Request, 'session'>, login: Login): Promise<void>
  /** Ends the session, here and in the store. */
  logOut(req: Pick<Request, 'session'>): Promise<void>
}

/**
 * Authenticates by the session of the plugin `session`: the function returns the caller for what `logIn` has stored, or nothing if the
 * account has gone; then the request is refused and the session ends.
 *
 * @example
 * import { Server } from 'framework'
 * import { session } from 'framework/plugins/auth'
 *
 * const web = session((id: string) => (id === 'ada' ? { id } : undefined))
 * const server = new Server({ plugins: { session: { secret: process.env.SECRET! }, auth: { schemes: { web } } } })
 * server.post('/login', { auth: false }, async (req, res) => {
 *   await web.logIn(req, 'ada')
 *   return res.noContent()
 * })
 */
export function session<Login>(
  find: (login: Login, req: Request) => Awaitable<AuthSubject | null | undefined>,
): SessionScheme<Login> {
  if (typeof find !== 'function') throw OptionError('session', find, 'a function (login, req) => subject')
  return {
    // The scheme of sessions has no name in the registry of RFC 9110; this one is from draft-broyer-http-cookie-auth.
    challenge: 'Cookie',
    header: 'cookie',
    description: { type: 'apiKey', in: 'cookie', name: 'sid' },
    dependencies: ['session'],
    async authenticate(req) {
      const { login } = req.session as { login?: unknown }
      if (login === undefined) return undefined
      const verdict = ownVerdictOf(await find(login as Login, req))
      if ('subject' in verdict) return verdict
      await req.session.destroy()
      return { wrong: 'the session has ended' }
    },
    async logIn(req, login) {
      if (login === undefined || login === null) throw OptionError('logIn', login, 'what identifies the account')
      await req.session.regenerate()
      Object.assign(req.session, { login })
      await req.session.save()
    },
    logOut: (req) => req.session.destroy(),
  }
}
