import { definePlugin, PolicyManager } from 'framework'
import { passwords, type SessionScheme, session } from 'framework/plugins/auth'

declare module 'framework' {
  interface AuthSubject {
    id: string
    role?: string
  }
  interface Services {
    accounts: Accounts
    logins: SessionScheme<Login>
  }
}

export interface Account {
  readonly id: string
  readonly mail: string
  readonly role: 'member' | 'admin'
  readonly password: string
  /** Increases with each new password: sessions of an earlier generation are no longer valid. */
  readonly generation: number
}

/** What a session stores. */
export type Login = Pick<Account, 'id' | 'generation'>

/** In a real application, this is a table with a unique, lower-case `mail`. */
export class Accounts {
  readonly #rows = new Map<string, Account>()

  find(id: string) {
    return this.#rows.get(id)
  }

  async add(id: string, mail: string, password: string, role: Account['role'] = 'member') {
    this.#rows.set(id, { id, mail, role, password: await passwords.hash(password), generation: 1 })
  }

  async authenticate(mail: string, password: string): Promise<Account | undefined> {
    const account = [...this.#rows.values()].find((row) => row.mail === mail.toLowerCase())
    // As much work for an unknown address, whose hash is `undefined`: the time does not show which addresses have an account.
    return (await passwords.verify(password, account?.password)) ? account : undefined
  }

  async changePassword(id: string, password: string): Promise<Account> {
    const hash = await passwords.hash(password)
    const account = this.#rows.get(id)!
    const changed = { ...account, password: hash, generation: account.generation + 1 }
    this.#rows.set(id, changed)
    return changed
  }
}

export const loginsOf = (accounts: Accounts) =>
  session(({ id, generation }: Login) => {
    const account = accounts.find(id)
    return account?.generation === generation ? { id, role: account.role } : undefined
  })

/** The services that the routes use. */
export const authentication = definePlugin({
  name: 'authentication',
  provide: (services: { accounts: Accounts; logins: SessionScheme<Login> }) => services,
})

export const policies = new PolicyManager(
  { site: { admin: (user?: { role?: string }) => user?.role === 'admin' } },
  { status: 'byUser' },
)
