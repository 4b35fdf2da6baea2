import { type AuthSubject, channel, RouteCollection, Server, type ServerOptions } from 'framework'
import { bearer, memoryRefreshTokens, session, tokens } from 'framework/plugins/auth'
import { describe, expect, onTestFinished, test } from 'vitest'
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
    let goOn = () => {}
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const server = serve(byToken, (router) => {
      const data = () => {
        isAsked()
        return new Promise<void>((resolve) => {
          goOn = resolve
        })
      }
      router.ws('/slow', { data, message: () => {} })
    })
    const opening = server.inject.ws('/slow', bearing('ada'))
    await asked
    await server.services.get('auth').disconnect({ id: 'ada' })
    goOn()
    await (await opening).assertEnded(4401)
  })

  test.skipIf(!hasRedis)('reaches all instances that share a Redis, also one that was cut off', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
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
})
