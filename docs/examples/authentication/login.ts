import { HttpError, type Request, router } from 'framework'
import { type Account, policies } from './accounts.ts'

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
const signedIn = { manager: policies, scope: 'site', handler: 'signedIn' } as const
const fewTries = { limit: 10, windowMs: 15 * 60_000 }

async function begin(req: Pick<Request, 'session'>, { id, generation }: Account) {
  await req.session.regenerate()
  req.session.accountId = id
  req.session.generation = generation
}

router.post('/login', { body: Credentials, rateLimit: fewTries }, async (req, res) => {
  const account = await req.server.services.get('accounts').authenticate(req.body.mail, req.body.password)
  if (account === undefined)
    throw new HttpError(401, { code: 'WRONG_CREDENTIALS', message: 'mail or password is wrong' })
  await begin(req, account)
  return res.noContent()
})

router.post('/logout', async (req, res) => {
  await req.session.destroy()
  return res.noContent()
})

router.put('/password', { body: NewPassword, rateLimit: fewTries, policy: signedIn }, async (req, res) => {
  const accounts = req.server.services.get('accounts')
  const account = await accounts.authenticate(req.account.mail, req.body.current)
  if (account === undefined)
    throw new HttpError(403, { code: 'WRONG_PASSWORD', message: 'the current password is wrong' })
  await begin(req, await accounts.changePassword(account, req.body.password))
  return res.noContent()
})

router.get('/me', { policy: signedIn }, ({ account: { id, mail, role } }) => ({ id, mail, role }))

// Every route of the group is guarded, including routes that are added later.
router.group('/admin', [policies.guard('site', 'admin')], (admin) => {
  admin.get('/stats', () => ({ accounts: 2 }))
})
