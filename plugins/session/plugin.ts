import { createHash } from 'node:crypto'
import { definePlugin } from '../../kernel/index.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { openConnections } from '../shared/http/connections.ts'
import { routesWithSessions } from '../shared/http/route-value.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { coverAll, member, slot, type WithSession } from './access.ts'
import { sessionOptions } from './options.ts'
import { type CookieChange, isId, SessionRecord } from './session.ts'
import { storesOfScopes } from './stores/contract.ts'
import { openStore } from './stores/open.ts'

/**
 * Keeps data about clients between requests: `req.session`, a plain object under a random id in a signed cookie.
 *
 * Nothing is stored and no cookie is set until the session has data; changes are written before the
 * response is sent. If the store fails, requests with a session get 503 `SessionStoreError`, never an empty session. The plugin
 * registers the plugin `cookie` if it is missing.
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
  access: false,
  dependencies: ['cookie'],
  options: sessionOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  // No session has this id. Without its store, no request with a session gets a response.
  health: {
    session: {
      check: async (services) => void (await storesOfScopes.get(services)!.get('health')),
      remedy: 'Start the store of the sessions, or correct session.store',
    },
  },
  memory: { store: { kind: 'memory', max: 10_000 } },
  inspector: async () => (await import('./inspector.ts')).panels,
  async setup(ctx, { secret, name, ttl, rolling, store, cookie }) {
    const codec = ctx.services.get('cookie')
    const signer = codec.signer('session.secret', secret, ctx.log)
    if (store.kind === 'memory') {
      // One of the processes would know a client, and the others would not.
      refuseSeveral(
        ctx.server.worker,
        'sessions are kept',
        'Set session.store to { redis: "redis://…" } or a store of your own',
      )
    }
    const named = await openStore(store, `${ctx.prefix}/${name}`, ctx.log)
    ctx.onClose(() => named.store.close?.())
    storesOfScopes.set(ctx.services, named.store)
    announceBackend(ctx.server, 'session', named.store)
    // Here and in `openStore`: loads the modules of sessions only if they are used.
    const { SessionKeeper } = await import('./keeper.ts')
    const connections = openConnections(ctx)
    // Hashed: an id lets its owner in.
    const keyOf = (id: string) => `session ${createHash('sha256').update(id).digest('base64url')}`
    const ended = (id: string) => connections.end(keyOf(id))
    const keeper = new SessionKeeper({ ...named, ttl, rolling, log: ctx.log, ended })
    connections.name((req: WithSession) => {
      const record = req[slot]
      const isUsed = record instanceof SessionRecord && record.keeper === keeper && record.isRead
      return isUsed && record.id !== undefined ? [{ key: keyOf(record.id) }] : []
    })
    const marker = `${name}=`

    ctx.decorate('request', { session: member })
    // A session of the whole server reaches every request, so those without a cookie need no mark.
    const isEverywhere = ctx.services === ctx.server.services
    if (isEverywhere) coverAll(ctx.server, keeper, marker)

    const own = codec.own(name, { ...cookie, maxAge: ttl })

    ctx.onRoute((route) => void routesWithSessions.add(route))
    ctx.use(function session(req: WithSession, _res, next) {
      const header = req.raw.header('cookie')
      if (header === undefined || !header.includes(marker)) {
        if (!isEverywhere) req[slot] = keeper
        return next()
      }
      const cookie = req.cookies[name] ?? ''
      const { value: id = '', isCurrent = false } = signer.check(name, cookie) ?? {}
      const take = (text: string | undefined) => {
        if (text === undefined) req[slot] = keeper
        else req[slot] = new SessionRecord(keeper, { id, text, cookie: isCurrent ? cookie : undefined })
        return next()
      }
      const found = isId(id) ? keeper.load(id) : undefined
      // The promise of `next()` is left to the chain, which awaits it anyway.
      return found instanceof Promise ? found.then((text) => void take(text)) : take(found)
    })

    ctx.onSend(function sessionOnSend(req: WithSession, res) {
      const record = req[slot]
      if (!(record instanceof SessionRecord)) return undefined
      const send = (change: CookieChange) => {
        // Otherwise a cache that keeps the response would pass one client's session to the next.
        if (record.isRead || change !== 'keep') res.vary('Cookie')
        if (change === 'set') own.set(req, res, record.cookie ?? signer.sign(name, record.id!))
        else if (change === 'clear') own.clear(req, res)
      }
      const change = record.finish()
      return change instanceof Promise ? change.then(send) : send(change)
    })
  },
})
