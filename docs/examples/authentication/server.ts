import { Server } from 'framework'
import { type Accounts, authentication, loginsOf } from './accounts.ts'
import './login.ts'

export function makeServer(accounts: Accounts, secret: string) {
  const logins = loginsOf(accounts)
  return new Server({
    plugins: {
      rateLimit: { limit: 300 },
      csrf: true,
      session: { secret, ttl: 14 * 86_400 },
      auth: { schemes: { logins } },
      authentication: authentication({ accounts, logins }),
    },
  })
}
