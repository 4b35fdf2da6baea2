import { HttpError, router } from 'framework'
import { policies } from './accounts.ts'

const password = { type: 'string', minLength: 12, maxLength: 200 } as const
const Credentials = {
  type: 'object',
  properties: { mail: { type: 'string', format: 'email' }, password: { type: 'string', maxLength: 200 } },
  required: ['mail', 'password'],
} as const
const NewPassword = {
  type: 'object',
  properties: { current: { type: 'string', maxLength: 200 }, password },
  required: ['current', 'password'],
} as const
const fewTries = { limit: 10, windowMs: 15 * 60_000 }

router.post('/login', { auth: false, body: Credentials, rateLimit: fewTries }, async (req, res) => {
  const account = await req.server.services.get('accounts').authenticate(req.body.mail, req.body.password)
  if (account === undefined)
    throw new HttpError(401, { code: 'WrongCredentialsError', message: 'mail or password is wrong' })
  await req.server.services.get('logins').logIn(req, { id: account.id, generation: account.generation })
  return res.noContent()
})

router.post('/logout', { auth: false }, async (req, res) => {
  await req.server.services.get('logins').logOut(req)
  return res.noContent()
})

router.put('/password', { auth: 'required', body: NewPassword, rateLimit: fewTries }, async (req, res) => {
  const accounts = req.server.services.get('accounts')
  const account = await accounts.authenticate(accounts.find(req.user.id)!.mail, req.body.current)
  if (account === undefined)
    throw new HttpError(403, { code: 'WrongPasswordError', message: 'the current password is wrong' })
  const { id, generation } = await accounts.changePassword(account.id, req.body.password)
  await req.server.services.get('logins').logIn(req, { id, generation })
  return res.noContent()
})

router.get('/me', { auth: 'required' }, (req) => {
  const { id, mail, role } = req.server.services.get('accounts').find(req.user.id)!
  return { id, mail, role }
})

// Every route of the group is guarded, including routes that are added later.
router.group('/admin', [policies.guard('site', 'admin')], (admin) => {
  admin.get('/stats', () => ({ accounts: 2 }))
})
