import { HttpError, router } from 'framework'
import { passwords, session } from 'framework/plugins/auth'
import { z } from 'zod'

declare module 'framework' {
  /** Who is calling: `req.user`. */
  interface AuthSubject {
    id: string
  }
}

interface Row {
  readonly id: number
  readonly password: string
}

/** Finds the caller of each request: what the session keeps is the number of the member. */
export const members = session(async (id: number, req) => {
  const { rows } = await req.database.query('select id from members where id = $1', [id])
  return rows.length === 1 ? { id: String(id) } : undefined
})

const Credentials = z.object({ mail: z.email().toLowerCase(), password: z.string().min(12).max(200) })
// Ten guesses of a password in a quarter of an hour.
const open = { auth: false, body: Credentials, rateLimit: { limit: 10, windowMs: 15 * 60_000 } } as const

router.post('/members', open, async (req, res) => {
  const { mail, password } = req.body
  const { rows } = await req.database.query<Row>(
    'insert into members (mail, password) values ($1, $2) on conflict (mail) do nothing returning id',
    [mail, await passwords.hash(password)],
  )
  if (rows[0] === undefined) throw new HttpError(409, { code: 'MemberExistsError' })
  await members.logIn(req, rows[0].id)
  return res.created()
})

router.post('/login', open, async (req, res) => {
  const { mail, password } = req.body
  const { rows } = await req.database.query<Row>('select id, password from members where mail = $1', [mail])
  // As much work for an unknown address: the time does not show who is a member.
  if (!(await passwords.verify(password, rows[0]?.password)) || rows[0] === undefined)
    throw new HttpError(401, { code: 'WrongCredentialsError' })
  await members.logIn(req, rows[0].id)
  return res.noContent()
})

router.post('/logout', { auth: 'optional' }, async (req, res) => {
  await members.logOut(req)
  return res.noContent()
})
