import { router, Server, type Session, type SessionData, type SessionStore } from 'framework'
import { type SessionOptions, session } from 'framework/plugins/session'
import { Cluster, Redis } from 'ioredis'
import type { Equal, Expect, NotAny } from './expect.ts'

declare module 'framework' {
  interface SessionData {
    typedUser: { id: number }
  }
}

const secret = 'a'
new Server({ plugins: { session: { secret } } })
new Server({ plugins: { session: { secret: ['a', 'b'], name: 'sid', ttl: 60, rolling: true, store: 'memory' } } })
new Server([session({ secret, cookie: { sameSite: 'strict', domain: 'a.test' } })])
session({ secret, store: { memory: { max: 5 } } })
session({ secret, store: { redis: 'redis://a' } })
session({ secret, store: { redis: { host: 'a', port: 6379, tls: {} } } })
session({ secret, store: { redis: { client: new Redis() } } })
session({ secret, store: { redis: { client: new Cluster([]) } } })
session({ secret, store: { get: () => undefined, set() {}, destroy() {} } })
const store: SessionStore = {
  async get(id) {
    type _id = Expect<Equal<typeof id, string>>
    return id === '' ? null : undefined
  },
  async set(id, data, ttlSeconds) {
    type _data = Expect<Equal<typeof data, object>>
    type _ttl = Expect<Equal<typeof ttlSeconds, number>>
    console.log(id, data, ttlSeconds)
  },
  async destroy() {},
}
const options: SessionOptions = { secret, store }
session(options)
// @ts-expect-error a secret is needed
session({})
// @ts-expect-error a secret is needed
session()
// @ts-expect-error seconds are a number
session({ secret, ttl: '1d' })
session({ secret, store: 'redis' })
// @ts-expect-error no such store
session({ secret, store: 'valkey' })
session({ secret, store: { redis: new Redis() } })
// @ts-expect-error how long the cookie lives is ttl
session({ secret, cookie: { maxAge: 5 } })
// @ts-expect-error no such option
new Server({ plugins: { session: { secret, roling: true } } })
// @ts-expect-error destroy is missing
session({ secret, store: { get: () => undefined, set() {} } })
// A store of an application may know the type of its data.
const rows = new Map<string, SessionData>()
session({
  secret,
  store: {
    get: (id) => rows.get(id),
    set: (id, data: SessionData) => void rows.set(id, data),
    destroy: (id) => void rows.delete(id),
  },
})
session({
  secret,
  store: {
    get: (id) => rows.get(id),
    set: (id, data: SessionData) => void rows.set(id, data),
    update: async (id, data: SessionData) => rows.has(id) && rows.set(id, data) === rows,
    destroy: async (id) => rows.delete(id),
    touch: (id) => rows.has(id),
  },
})
session({
  secret,
  // @ts-expect-error update must say whether the session was there
  store: { get: () => undefined, set() {}, update() {}, destroy() {} },
})

router.get('/session-types', async (req) => {
  type _session = Expect<Equal<typeof req.session, Session>>
  const user = req.session.typedUser
  type _user = Expect<Equal<typeof user, { id: number } | undefined>>
  type _any = Expect<NotAny<typeof req.session>>
  req.session.typedUser = { id: 1 }
  // @ts-expect-error the id is a number
  req.session.typedUser = { id: '1' }
  // @ts-expect-error this member was not declared
  req.session.nope
  // @ts-expect-error the session itself stays
  req.session = {}
  const done = req.session.regenerate()
  type _done = Expect<Equal<typeof done, Promise<void>>>
  await req.session.destroy()
  await req.session.save()
})

// @ts-expect-error there is no secret by default
new Server({ plugins: { session: true } })
// @ts-expect-error nor a folder, nor a proxy to trust
new Server({ plugins: { static: true, trustProxy: true } })
new Server({ plugins: { session: false, static: false, trustProxy: false, cache: true, upload: true } })
