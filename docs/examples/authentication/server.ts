import { Server } from 'framework'
import { type Accounts, authentication } from './accounts.ts'
import './login.ts'
import { sameOrigin } from './same-origin.ts'

export function makeServer(accounts: Accounts, secret: string) {
  const server = new Server({
    plugins: {
      rateLimit: { limit: 300 },
      session: { secret, ttl: 14 * 86_400 },
      authentication: authentication({ accounts }),
    },
  })
  server.use(sameOrigin)
  return server
}
