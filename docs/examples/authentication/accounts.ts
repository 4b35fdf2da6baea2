import { definePlugin, PolicyManager, proves } from 'framework'
import { hashPassword, verifyPassword } from './passwords.ts'

export interface Account {
  readonly id: string
  readonly mail: string
  readonly role: 'member' | 'admin'
  readonly password: string
  /** Increases with each new password: sessions of an earlier generation are no longer valid. */
  readonly generation: number
}

/** In a real application, this is a table with a unique, lower-case `mail`. */
export class Accounts {
  readonly #rows = new Map<string, Account>()
  readonly #decoy = hashPassword('no one has this password')

  find(id: string) {
    return this.#rows.get(id)
  }

  async add(id: string, mail: string, password: string, role: Account['role'] = 'member') {
    this.#rows.set(id, { id, mail, role, password: await hashPassword(password), generation: 1 })
  }

  async authenticate(mail: string, password: string): Promise<Account | undefined> {
    const account = [...this.#rows.values()].find((row) => row.mail === mail.toLowerCase())
    // As much work for an unknown address as for a known one: otherwise the time shows which addresses have an account.
    const isRight = await verifyPassword(password, account?.password ?? (await this.#decoy))
    return isRight ? account : undefined
  }

  async changePassword({ id }: Account, password: string): Promise<Account> {
    const hash = await hashPassword(password)
    const account = this.#rows.get(id)!
    const changed = { ...account, password: hash, generation: account.generation + 1 }
    this.#rows.set(id, changed)
    return changed
  }
}

declare module 'framework' {
  interface Services {
    accounts: Accounts
  }
  interface SessionData {
    accountId: string
    generation: number
  }
  interface Request {
    account?: Account
  }
}

/** Handlers and policies find the account of the session as `req.account`. */
export const authentication = definePlugin({
  name: 'authentication',
  dependencies: ['session'],
  provide: ({ accounts }: { accounts: Accounts }) => ({ accounts }),
  setup(ctx, { accounts }) {
    ctx.use(function readAccount(req, _res, next) {
      const { accountId, generation } = req.session
      const account = accountId === undefined ? undefined : accounts.find(accountId)
      if (account?.generation === generation) req.account = account
      return next()
    })
  },
})

const isAdmin = (account: unknown) => (account as Account | undefined)?.role === 'admin'

export const policies = new PolicyManager(
  {
    site: {
      signedIn: proves<{ account: Account }>((account) => account !== undefined),
      admin: proves<{ account: Account }>(isAdmin),
    },
  },
  { user: (req) => req.account, status: 'byUser' },
)
