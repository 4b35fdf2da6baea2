import type { Session } from './session.ts'

export type { RedisStoreOptions, StoreInRedis } from '../shared/stores/redis-store.ts'
export type { SessionCookieOptions, SessionOptions, SessionStoreOption } from './options.ts'
export { session } from './plugin.ts'
export type { Session, SessionControls, SessionData } from './session.ts'
export type { SessionStore } from './stores/contract.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/http/request/request.ts' {
  interface Request {
    /**
     * The data that the server keeps about this client between requests: a plain object, typed by merging into `SessionData`.
     *
     * @example
     * server.post('/login', async (req, res) => {
     *   await req.session.regenerate()
     *   Object.assign(req.session, { user: 'ada' })
     *   return res.noContent()
     * })
     */
    readonly session: Session
  }
}
