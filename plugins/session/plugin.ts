import { definePlugin, type Kernel, type Request } from '../../kernel/index.ts'
import { refuseSeveral } from '../toolkit/workers.ts'
import { place, SessionAccess, slot, type WithSession } from './access.ts'
import { sessionOptions } from './options.ts'
import { type CookieChange, isId, SessionRecord } from './session.ts'
import { GuardedStore } from './stores/contract.ts'
import { openStore } from './stores/open.ts'

/** One for each server, in however many scopes the plugin is registered: the members of requests are those of the server. */
const accesses = new WeakMap<Kernel, SessionAccess>()

/**
 * Remembers clients from request to request: `req.session`, a plain object under a random id in a signed cookie.
 *
 * Nothing is stored and no cookie is set before something is in the session; what has changed is written before the
 * answer leaves. A store that fails is 503 `SessionStoreError` for requests with a session, never an empty session. It
 * registers the plugin `cookie` where there is none.
 *
 * @example
 * const server = new Server({ plugins: { session: { secret: process.env.SESSION_SECRET!, ttl: 3600 } } })
 * server.get('/cart', (req) => ({ ...req.session }))
 * server.post('/logout', async (req, res) => {
 *   await req.session.destroy()
 *   return res.noContent()
 * })
 */
export const session = definePlugin({
  name: 'session',
  dependencies: ['cookie'],
  options: sessionOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  async setup(ctx, { secret, name, ttl, rolling, store, cookie }) {
    const codec = ctx.services.get('cookie')
    const signer = codec.signer('session.secret', secret, ctx.log)
    if (store.kind === 'memory') {
      // A client would be known to one of them, and a stranger to the others.
      refuseSeveral(ctx.server.worker, 'sessions are kept', 'Set session.store to { redis } or a store of your own')
    }
    const { named, close } = await openStore(store, `${ctx.prefix}/${name}`, ctx.log)
    if (close !== undefined) ctx.onClose(close)
    // Here and in `openStore`: only who has sessions loads what keeps them.
    const { SessionKeeper } = await import('./keeper.ts')
    const keeper = new SessionKeeper(new GuardedStore(named, ctx.log), ttl, rolling)
    const marker = `${name}=`

    const access = accesses.get(ctx.server) ?? new SessionAccess()
    accesses.set(ctx.server, access)
    ctx.decorate('request', { session: access.member })
    // A session of the whole server reaches every request, so those without a cookie need no mark.
    const isEverywhere = ctx.services === ctx.server.services
    if (isEverywhere) access.coverAll(keeper, marker)

    const idOf = (req: Request): string | undefined => {
      const id = signer.verify(name, req.cookies[name] ?? '')
      return id !== undefined && isId(id) ? id : undefined
    }

    ctx.use(function session(req: WithSession, _res, next) {
      const header = req.raw.header('cookie')
      if (header === undefined || !header.includes(marker)) {
        if (!isEverywhere) req[slot] = keeper
        return next()
      }
      const id = idOf(req)
      if (id === undefined) {
        req[slot] = keeper
        return next()
      }
      const take = (text: string | undefined) => {
        if (text === undefined) req[slot] = keeper
        else place(req, new SessionRecord(keeper, id, text))
      }
      const found = keeper.load(id)
      if (!(found instanceof Promise)) {
        take(found)
        return next()
      }
      // The promise of `next()` is left to the chain, which waits for it anyway.
      return found.then((text) => {
        take(text)
        next()
      })
    })

    ctx.onSend(function sessionOnSend(req: WithSession, res) {
      const record = req[slot]
      if (!(record instanceof SessionRecord)) return undefined
      const send = (change: CookieChange) => {
        // A cache on the way that keeps the answer would hand one client's session to the next.
        if (record.isRead || change !== 'keep') res.vary('Cookie')
        if (change === 'set') {
          codec.setOwn(req, res, name, signer.sign(name, record.id!), { ...cookie, maxAge: ttl })
        } else if (change === 'clear') codec.clearOwn(req, res, name, cookie)
      }
      const change = record.finish()
      return change instanceof Promise ? change.then(send) : send(change)
    })
  },
})
