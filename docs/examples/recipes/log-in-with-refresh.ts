import { type DatabaseClient, HttpError, RouteCollection, Server, sqlMigrations } from 'framework'
import { clock } from 'framework/kernel'
import { passwords, type RefreshTokenStore, tokens } from 'framework/plugins/auth'
import { z } from 'zod'

const migrations = sqlMigrations({
  '001-accounts': 'create table accounts (id integer primary key, mail text not null unique, password text not null)',
  '002-refresh-tokens':
    'create table refresh_tokens (id text primary key, subject text not null, token text not null, expires_at text not null)',
})

const refreshTokensIn = (database: () => DatabaseClient): RefreshTokenStore => ({
  async create({ id, subject, token, expiresAt }) {
    const row = [id, subject, token, new Date(expiresAt)]
    await database().query('insert into refresh_tokens values ($1, $2, $3, $4)', row)
  },
  // One statement: of two refreshes at once, only one finds its token.
  async rotate(id, from, to, expiresAt) {
    const { rows } = await database().query<{ subject: string }>(
      'update refresh_tokens set token = $3, expires_at = $4 where id = $1 and token = $2 and expires_at > $5 returning subject',
      [id, from, to, new Date(expiresAt), new Date(clock.now())],
    )
    return rows[0]?.subject
  },
  end: (id) => database().query('delete from refresh_tokens where id = $1', [id]),
})

const Credentials = z.object({ mail: z.email().toLowerCase(), password: z.string().min(12).max(200) })
const Refresh = z.object({ refresh_token: z.string() })
const fewTries = { limit: 10, windowMs: 15 * 60_000 }

export function makeServer(secret: string) {
  const logins = tokens({
    secret,
    issuer: 'https://shop.example.org',
    expiresIn: 600,
    refresh: refreshTokensIn(() => server.services.get('database')),
  })
  const routes = new RouteCollection()

  routes.post('/accounts', { auth: false, body: Credentials, rateLimit: fewTries }, async (req, res) => {
    const { mail, password } = req.body
    const { count } = await req.database.query(
      'insert into accounts (mail, password) values ($1, $2) on conflict (mail) do nothing',
      [mail, await passwords.hash(password)],
    )
    if (count === 0) throw new HttpError(409, { code: 'AccountExistsError' })
    return res.created()
  })

  routes.post('/login', { auth: false, body: Credentials, rateLimit: fewTries }, async (req) => {
    const { rows } = await req.database.query<{ id: number; password: string }>(
      'select id, password from accounts where mail = $1',
      [req.body.mail],
    )
    if (!(await passwords.verify(req.body.password, rows[0]?.password)) || rows[0] === undefined)
      throw new HttpError(401, { code: 'WrongCredentialsError' })
    return logins.issue(String(rows[0].id))
  })

  routes.post('/token', { auth: false, body: Refresh }, (req) => logins.refresh(req.body.refresh_token))

  routes.post('/logout', { auth: false, body: Refresh }, async (req, res) => {
    await logins.revoke(req.body.refresh_token)
    return res.noContent()
  })

  routes.get('/me', { auth: 'required' }, (req) => ({ id: req.user.id }))

  const server = new Server({
    router: routes,
    plugins: { rateLimit: { limit: 300 }, database: { migrations }, auth: { schemes: { logins } } },
  })
  return server
}
