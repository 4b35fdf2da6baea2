import { createHash, randomBytes } from 'node:crypto'
import { HttpError, RouteCollection, Server } from 'framework'
import { session, userOf } from 'framework/plugins/auth'
import { z } from 'zod'

/** The addresses are in the documentation of the provider, or in its `/.well-known/openid-configuration`. */
export interface Provider {
  readonly clientId: string
  readonly clientSecret: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly userUrl: string
}

declare module 'framework' {
  interface SessionData {
    /** A log-in that has begun in this browser. */
    oauth?: { state: string; verifier: string }
  }
}

const Token = z.object({ access_token: z.string() })
const User = z.object({ sub: z.string(), email: z.email() })
type User = z.infer<typeof User>

const random = () => randomBytes(32).toString('base64url')

/** Asks the provider, with a limit: without one, a provider that hangs would hang every log-in. */
async function ask<Answer>(url: string, init: RequestInit, schema: z.ZodType<Answer>): Promise<Answer> {
  try {
    const res = await fetch(url, { ...init, signal: AbortSignal.timeout(5000) })
    if (res.ok) return schema.parse(await res.json())
    throw new Error(`${url} responded with ${res.status}`)
  } catch (cause) {
    throw new HttpError(502, { code: 'LoginUnavailableError', message: 'The log-in service does not respond', cause })
  }
}

export function makeServer(provider: Provider, { origin, secret }: { origin: string; secret: string }) {
  // The session keeps what the provider has said; an application would find or make its own account here.
  const logins = session((user: User) => ({ id: user.sub, mail: user.email }))
  const callback = `${origin}/login/callback`
  const routes = new RouteCollection()

  routes.get('/login', { auth: false }, (req, res) => {
    const [state, verifier] = [random(), random()]
    req.session.oauth = { state, verifier }
    const to = new URL(provider.authorizeUrl)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const parameters = {
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: callback,
      scope: 'openid email',
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
    return res.redirect(to.href)
  })

  const Answer = z.object({ code: z.string().optional(), state: z.string(), error: z.string().optional() })
  routes.get('/login/callback', { auth: false, query: Answer }, async (req, res) => {
    const begun = req.session.oauth
    delete req.session.oauth
    const { code, state } = req.query
    // Without this, another page could log a visitor in as someone else.
    if (begun === undefined || state !== begun.state) throw new HttpError(400, { code: 'LoginNotBegunError' })
    if (code === undefined) throw new HttpError(401, { code: 'LoginRefusedError' })
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: callback,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      code_verifier: begun.verifier,
    }
    const { access_token } = await ask(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) }, Token)
    const user = await ask(provider.userUrl, { headers: { authorization: `Bearer ${access_token}` } }, User)
    await logins.logIn(req, user)
    return res.redirect('/')
  })

  routes.get('/', { auth: 'optional' }, (req) => ({ user: userOf(req)?.id }))

  return new Server({
    router: routes,
    port: 0,
    host: '127.0.0.1',
    plugins: { csrf: true, session: { secret }, auth: { schemes: { logins } } },
  })
}
