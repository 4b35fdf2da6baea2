import { RouteCollection, Server, type ServerOptions } from 'framework'
import type { AuthOptions, AuthSubject } from 'framework/plugins/auth'
import { onTestFinished } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

/** A subject, whatever type other files of this program have given to `req.user`. */
export const user = (id: string, more: object = {}): AuthSubject => ({ id, ...more }) as never

export function serverWith(auth: AuthOptions, plugins: object = {}) {
  const logger = memoryLogger()
  const all = { ...plugins, auth } as ServerOptions['plugins']
  const server = new Server({ plugins: all, router: new RouteCollection(), logger })
  onTestFinished(() => server.close())
  return { server, log: logger.entries }
}

export const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
