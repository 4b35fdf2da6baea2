import { definePlugin, PolicyManager, proves, router } from 'framework'

export interface Customer {
  readonly name: string
  readonly mail: string
}

declare module 'framework' {
  interface SessionData {
    customer: Customer
  }
  interface Request {
    customer?: Customer
  }
}

/** Handlers and policies find the customer of the session as `req.customer`. */
export const customers = definePlugin({
  name: 'customers',
  dependencies: ['session'],
  setup(ctx) {
    ctx.use(function readCustomer(req, _res, next) {
      req.customer = req.session.customer
      return next()
    })
  },
})

export const policies = new PolicyManager(
  { site: { signedIn: proves<{ customer: Customer }>((customer) => customer !== undefined) } },
  { user: (req) => req.customer },
)

// Stands in for a login: the guide to authentication has a real one.
router.post('/login', async (req, res) => {
  await req.session.regenerate()
  req.session.customer = { name: 'Ada', mail: 'ada@example.org' }
  return res.noContent()
})
