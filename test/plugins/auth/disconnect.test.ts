import { type AuthSubject, channel, definePlugin, RouteCollection, Server, type ServerOptions } from 'framework'
import { type Auth, auth, bearer, memoryRefreshTokens, session, tickets, tokens } from 'framework/plugins/auth'
import { outageProxy } from 'framework/testing'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred } from '../../../plugins/shared/values/promises.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { bearing, user } from './support.ts'

const scheme = bearer((token) => (token === 'number' ? ({ id: 7 } as never as AuthSubject) : user(token)))
const news = channel<string>('news', { join: () => true })

function serve(plugins: object, routes: (router: RouteCollection) => void = () => {}) {
  const router = new RouteCollection()
  router.ws('/live', { channels: [news] }, { message: (socket, text) => void socket.send(text as string) })
  routes(router)
  const all = { websocket: true, channels: true, ...plugins } as ServerOptions['plugins']
  const server = new Server({ router, plugins: all })
  onTestFinished(() => server.close())
  return server
}
/** A function `data` of a route that waits. */
function waiting() {
  const [asked, answer] = [deferred(), deferred()]
  const data = () => {
    asked.resolve()
    return answer.promise
  }
  return { asked: asked.promise, goOn: () => answer.resolve(), data }
}
const isOpen = (socket: { assertOpen(): void }) => {
  try {
    socket.assertOpen()
    return true
  } catch {
    return false
  }
}
async function redisFor() {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return redis
}
const byToken = { auth: { schemes: { scheme } } }

describe('disconnect', () => {
  test('ends the websockets and streams of a caller, and no others', async () => {
    const server = serve(byToken)
    const open = (token: string) => server.inject.ws('/live', bearing(token))
    const [one, two, other, text] = [await open('ada'), await open('ada'), await open('bob'), await open('7')]
    const number = await open('number')
    const stream = server.inject.get('/live?channel=news', bearing('ada'))
    await expect.poll(() => server.services.get('channels').counts.members).toBe(1)
    await server.services.get('auth').disconnect({ id: 'ada' })
    await one.assertEnded(4401)
    await two.assertEnded(4401)
    ;(await stream).assertStatus(200)
    await server.services.get('auth').disconnect({ sub: 7 })
    await number.assertEnded(4401)
    for (const socket of [other, text]) socket.assertOpen()
    await (await open('ada')).assertOpen()
  })

  test('refuses a caller without an id', async () => {
    const server = serve(byToken)
    await server.ready()
    await expect(server.services.get('auth').disconnect({ id: undefined })).rejects.toThrow(
      'a caller with an id or sub',
    )
  })

  test('also ends a websocket whose request was accepted before, and that opens after', async () => {
    const { asked, goOn, data } = waiting()
    const server = serve(byToken, (router) => router.ws('/slow', { data, message: () => {} }))
    const opening = server.inject.ws('/slow', bearing('ada'))
    await asked
    await server.services.get('auth').disconnect({ id: 'ada' })
    goOn()
    await (await opening).assertEnded(4401)
  })

  test('also ends a stream of events that opens after, and leaves nothing of it', async () => {
    const { asked, goOn, data } = waiting()
    const server = serve(byToken, (router) => router.ws('/slow', { channels: [news] }, { data }))
    const opening = server.inject.get('/slow?channel=news', bearing('ada'))
    await asked
    await server.services.get('auth').disconnect({ id: 'ada' })
    goOn()
    ;(await opening).assertStatus(200)
    expect(server.services.get('channels').counts).toMatchObject({ streams: 0, members: 0 })
  })

  test('also ends what opens with a ticket that was issued before', async () => {
    const sockets = tickets({ find: (id) => user(id) })
    const server = serve({ auth: { schemes: { scheme, sockets } } }, (router) => {
      router.post('/ticket', (req) => sockets.issue(req))
    })
    const open = async () => {
      const { ticket } = JSON.parse((await server.inject.post('/ticket', bearing('ada'))).text())
      return () => server.inject.ws('/live', { query: { ticket_token: ticket } })
    }
    const before = await open()
    await server.services.get('auth').disconnect({ id: 'ada' })
    await (await before()).assertEnded(4401)
    await new Promise((resolve) => setTimeout(resolve, 3))
    const after = await open()
    await (await after()).assertOpen()
  })

  const typeDefs = 'type Query { x: Int } type Subscription { tick: Int }'
  const left = deferred()
  async function* subscribe() {
    yield { tick: 1 }
    await left.promise
  }

  test('ends subscriptions of GraphQL: over a websocket, and a stream that opens after', async () => {
    const sockets = tickets({ find: (id) => user(id) })
    const { asked, goOn, data } = waiting()
    const resolvers = {
      Subscription: {
        tick: {
          subscribe: async (_: unknown, __: unknown, { req }: { req: { method: string } }) => {
            if (req.method === 'POST') await data()
            return subscribe()
          },
        },
      },
    }
    const plugins = {
      graphql: { websocket: true, schema: { typeDefs, resolvers } },
      auth: { schemes: { scheme, sockets } },
    }
    const server = serve(plugins, (router) => {
      router.post('/ticket', (req) => sockets.issue(req, { path: '/graphql' }))
    })
    const { ticket } = JSON.parse((await server.inject.post('/ticket', bearing('ada'))).text())
    const socket = await server.inject.ws('/graphql', { protocols: ['graphql-transport-ws', `ticket.${ticket}`] })
    socket.assertOpen()
    expect(socket.protocol).toBe('graphql-transport-ws')
    socket.send({ type: 'connection_init' })
    await socket.assertNext({ type: 'connection_ack' })
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { tick }' } })
    await socket.assertNext({ type: 'next', payload: { data: { tick: 1 } } })
    const headers = { ...bearing('ada').headers, accept: 'text/event-stream' }
    const stream = server.inject.post('/graphql', { body: { query: 'subscription { tick }' }, headers })
    await asked
    await server.services.get('auth').disconnect({ id: 'ada' })
    await socket.assertEnded(4401)
    goOn()
    ;(await stream).assertStatus(200)
    // The server would wait for the generators.
    left.resolve()
  })

  test.skipIf(!hasRedis)('reaches all instances that share a Redis', async () => {
    const redis = await redisFor()
    const plugins = { ...byToken, channels: { store: { redis: redis.url } } }
    const [here, there] = [serve(plugins), serve(plugins)]
    const [ada, bob] = [await there.inject.ws('/live', bearing('ada')), await there.inject.ws('/live', bearing('bob'))]
    await here.ready()
    await here.services.get('auth').disconnect({ id: 'ada' })
    await ada.assertEnded(4401)
    bob.assertOpen()
    await redis.kill()
    await expect(here.services.get('auth').disconnect({ id: 'bob' })).rejects.toThrow('CHANNEL_UNAVAILABLE')
    bob.assertOpen()
  })

  test.skipIf(!hasRedis)('reaches an instance that was cut off, when it is back', async () => {
    const redis = await redisFor()
    await using proxy = await outageProxy(redis.url)
    const over = (url: string) => serve({ ...byToken, channels: { store: { redis: url } } })
    const [here, there] = [over(redis.url), over(proxy.url)]
    await here.ready()
    const [ada, bob] = [await there.inject.ws('/live', bearing('ada')), await there.inject.ws('/live', bearing('bob'))]
    const down = proxy.outage('down')
    await here.services.get('auth').disconnect({ id: 'ada' })
    ada.assertOpen()
    down.restore()
    await expect.poll(() => isOpen(ada)).toBe(false)
    await ada.assertEnded(4401)
    bob.assertOpen()
  })

  test.skipIf(!hasRedis)('is carried for a plugin auth in an inner scope too', async () => {
    const redis = await redisFor()
    const one = () => {
      const found: Auth[] = []
      const inner = definePlugin({
        name: 'inner',
        scoped: true,
        setup(ctx) {
          ctx.register(auth({ schemes: { scheme } }))
          ctx.ws('/live', { message: () => {} })
          ctx.onReady(() => void found.push(ctx.services.get('auth')))
        },
      })
      const plugins = { websocket: true, channels: { store: { redis: redis.url } } } as ServerOptions['plugins']
      const server = new Server({ router: new RouteCollection(), plugins })
      onTestFinished(() => server.close())
      server.register(inner())
      return { server, found }
    }
    const [here, there] = [one(), one()]
    const ada = await there.server.inject.ws('/live', bearing('ada'))
    await here.server.ready()
    await here.found[0]!.disconnect({ id: 'ada' })
    await ada.assertEnded(4401)
  })

  test.skipIf(!hasRedis)('cannot be read, sent or missed by clients of a channel with any name', async () => {
    const redis = await redisFor()
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    const any = channel(':name', { join: () => true, publish: () => true })
    const router = new RouteCollection()
    router.ws('/any', { channels: [any] }, {})
    const plugins = { websocket: true, ...byToken, channels: { store: { redis: redis.url } } }
    const server = new Server({ router, plugins: plugins as ServerOptions['plugins'] })
    onTestFinished(() => server.close())
    const socket = await server.inject.ws('/any', bearing('eve'))
    await server.services.get('auth').disconnect({ id: 'ada' })
    const names = (await client.keys('*')).map((key) => /\{(.*)\}|:([^:]*)$/.exec(key)?.slice(1).find(Boolean) ?? key)
    const own = names.filter((name) => name.includes('signed-out'))
    expect(own).not.toEqual([])
    for (const name of own) {
      socket.send({ type: 'channel:join', data: { channel: name } })
      await socket.assertNext({ type: 'channel:refused', data: { code: 'UnknownChannelError' } })
    }
  })
})

describe('a log-in that ends', () => {
  test('ends the connections of its session, and not those of the other devices', async () => {
    const web = session((id: string) => user(id))
    const server = serve({ session: { secret: 'a-secret-for-this-test' }, auth: { schemes: { web } } }, (router) => {
      router.post('/login', { auth: false }, async (req, res) => {
        await web.logIn(req, 'ada')
        return res.noContent()
      })
      router.post('/logout', async (req, res) => {
        await web.logOut(req)
        return res.noContent()
      })
    })
    const logIn = async () => {
      const response = await server.inject.post('/login')
      return { headers: { cookie: String(response.headers()['set-cookie']).split(';')[0]! } }
    }
    const [laptop, phone] = [await logIn(), await logIn()]
    const [one, two] = [await server.inject.ws('/live', laptop), await server.inject.ws('/live', phone)]
    ;(await server.inject.post('/logout', laptop)).assertStatus(204)
    await one.assertEnded(4401)
    two.assertOpen()
    await server.services.get('auth').disconnect({ id: 'ada' })
    await two.assertEnded(4401)
  })

  test('ends what a ticket of its session has opened or will open, though that request had no cookie', async () => {
    const web = session((id: string) => user(id))
    const scheme = tickets({ find: (id) => user(id) })
    const schemes = { web, scheme }
    const server = serve({ session: { secret: 'a-secret-for-this-test' }, auth: { schemes } }, (router) => {
      router.post('/login', { auth: false }, async (req) => void (await web.logIn(req, 'ada')))
      router.post('/logout', async (req) => void (await web.logOut(req)))
      router.post('/ticket', (req) => scheme.issue(req))
    })
    const logIn = async () => {
      const response = await server.inject.post('/login')
      return { headers: { cookie: String(response.headers()['set-cookie']).split(';')[0]! } }
    }
    const ticketOf = async (device: object) => {
      const { ticket } = (await server.inject.post('/ticket', device)).assertStatus(200).body<{ ticket: string }>()
      return { query: { ticket_token: ticket } }
    }
    const [laptop, phone] = [await logIn(), await logIn()]
    const late = await ticketOf(laptop)
    const one = await server.inject.ws('/live', await ticketOf(laptop))
    const two = await server.inject.ws('/live', await ticketOf(phone))
    ;(await server.inject.post('/logout', laptop)).assertStatus(200)
    await one.assertEnded(4401)
    await (await server.inject.ws('/live', late)).assertEnded(4401)
    two.assertOpen()
  })

  test('ends those of its tokens: revoked, or used twice', async () => {
    const logins = tokens({ secret: 'x'.repeat(32), issuer: 'shop', refresh: memoryRefreshTokens() })
    const server = serve({ auth: { schemes: { logins } } })
    const open = async () => {
      const issued = await logins.issue('ada')
      return { refresh: issued.refresh_token!, socket: await server.inject.ws('/live', bearing(issued.access_token)) }
    }
    const [one, two, three] = [await open(), await open(), await open()]
    await logins.revoke(one.refresh)
    await one.socket.assertEnded(4401)
    await logins.refresh(two.refresh)
    two.socket.assertOpen()
    await expect(logins.refresh(two.refresh)).rejects.toThrow('was used before')
    await two.socket.assertEnded(4401)
    three.socket.assertOpen()
  })

  test.skipIf(!hasRedis)(
    'has ended also while other instances cannot be reached, and an invented token does not reach them',
    async () => {
      const redis = await redisFor()
      const client = new Redis(redis.url)
      const logins = tokens({ secret: 'x'.repeat(32), issuer: 'shop', refresh: memoryRefreshTokens() })
      const server = serve({ auth: { schemes: { logins } }, channels: { store: { redis: redis.url } } })
      await server.ready()
      const invented = `${'x'.repeat(22)}.${'y'.repeat(43)}`
      await expect(logins.refresh(invented)).rejects.toThrow('REFRESH_TOKEN')
      await logins.revoke(invented)
      expect((await client.keys('*')).join()).not.toContain('signed-out')
      client.disconnect()
      const [one, two] = [await logins.issue('ada'), await logins.issue('ada')]
      await logins.refresh(one.refresh_token!)
      const socket = await server.inject.ws('/live', bearing(two.access_token))
      await redis.kill()
      await expect(logins.refresh(one.refresh_token!)).rejects.toThrow('REFRESH_TOKEN')
      await logins.revoke(two.refresh_token!)
      await socket.assertEnded(4401)
    },
  )
})
