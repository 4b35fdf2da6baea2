import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { Server } from '../../index.ts'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { asking, serverOf } from './asked.ts'
import { missing, pair } from './pair.ts'
import { redisByHand } from './redis.ts'

const secret = 'a secret of more than thirty-two characters'
const ttl = 86_400
const user = { id: 4711, name: 'Ada Lovelace', roles: ['admin', 'editor'] }
interface Data {
  user?: typeof user
  visits?: number
}

interface Store {
  get(id: string): string | undefined | null | Promise<string | undefined | null>
  set(id: string, text: string): unknown
}

const sign = (id: string) => createHmac('sha256', secret).update(`sid=${id}`).digest('base64url')

function idOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [id = '', mac = ''] = (parseCookie(header).sid ?? '').split('.')
  const [given, right] = [Buffer.from(mac), Buffer.from(sign(id))]
  return given.length === right.length && timingSafeEqual(given, right) ? id : undefined
}

/** A server with a signed cookie, and JSON stored under its id. */
async function byHand(built: Built, store: Store): Promise<Server> {
  const server = await serverOf(built)
  const read = (text: string | undefined | null) => (text == null ? {} : JSON.parse(text)) as Data
  server.get('/read', (req, res) => {
    const id = idOf(req.headers.cookie)
    const found = id === undefined ? undefined : store.get(id)
    res.vary('Cookie')
    if (found instanceof Promise) return found.then((text) => ({ name: read(text).user?.name }))
    return { name: read(found).user?.name }
  })
  server.get('/save', async (req, res) => {
    const known = idOf(req.headers.cookie)
    const id = known ?? randomBytes(24).toString('base64url')
    const data = known === undefined ? {} : read(await store.get(known))
    const visits = (data.visits ?? 0) + 1
    await store.set(id, JSON.stringify({ ...data, user, visits }))
    const value = `${id}.${sign(id)}`
    const line = stringifySetCookie({ name: 'sid', value, maxAge: ttl, path: '/', httpOnly: true, sameSite: 'lax' })
    res.vary('Cookie').setHeader('set-cookie', line)
    return { visits }
  })
  return server
}

async function own(built: Built, store: 'memory' | { redis: string }): Promise<Server> {
  const server = await serverOf(built, { session: { secret, ttl, store } })
  server.get('/read', (req) => ({ name: (req.session as Data).user?.name }))
  server.get('/save', (req) => {
    const session = req.session as Data
    session.user = user
    session.visits = (session.visits ?? 0) + 1
    return { visits: session.visits }
  })
  return server
}

/** The first request creates the session; the measured requests carry its cookie. */
async function requestsOf(server: Server) {
  const { headers } = await server.inject({ url: '/save' })
  const cookie = String(headers['set-cookie']).split(';', 1)[0]!
  const ask = (url: string, isSet: boolean, member: string) =>
    asking(
      server,
      () => ({ url, headers: { cookie } }),
      ({ body, headers }) => (headers['set-cookie'] !== undefined) === isSet && Buffer.from(body).includes(member),
    )
  return { read: ask('/read', false, `"${user.name}"`), save: ask('/save', true, '"visits"') }
}

/** Sends a request with a cookie whose session is read, and one whose session is changed. */
export async function sessionCases(built: Built): Promise<MicroCase[]> {
  const { 'redis-server': url } = built.services
  const texts = new Map<string, string>()
  const memory: Store = { get: (id) => texts.get(id), set: (id, text) => texts.set(id, text) }
  const sides: [string, number, Server, Server][] = [
    ['memory', 1, await byHand(built, memory), await own(built, 'memory')],
  ]
  if (url !== undefined) {
    const redis = await redisByHand(url)
    const store: Store = {
      get: (id) => redis.get(`by-hand:${id}`),
      set: (id, text) => redis.set(`by-hand:${id}`, text, 'EX', ttl),
    }
    sides.push(['Redis', 16, await byHand(built, store), await own(built, { redis: url })])
  }
  const cases: MicroCase[] = []
  for (const [name, width, hand, framework] of sides) {
    const [other, ours] = [await requestsOf(hand), await requestsOf(framework)]
    cases.push(
      ...pair(`read, ${name}`, width, { 'by hand': other.read, framework: ours.read }),
      ...pair(`save, ${name}`, width, { 'by hand': other.save, framework: ours.save }),
    )
  }
  if (url === undefined) cases.push(missing('read, Redis', 'redis-server'), missing('save, Redis', 'redis-server'))
  return cases
}
