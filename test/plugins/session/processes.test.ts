import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

const script = join(import.meta.dirname, '../fixtures/session-instance.mjs')

describe.skipIf(!hasRedis)('two processes that share the sessions in Redis', () => {
  let redis: RedisServer
  let client: Redis
  let here: ChildProcess
  let there: ChildProcess
  const urls = new Map<ChildProcess, string>()
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    ;[here, there] = [0, 1].map(() => fork(script, [redis.url], { execArgv: [] })) as [ChildProcess, ChildProcess]
    const begun = [here, there].map(async (child) => {
      const [{ url }] = (await once(child, 'message')) as [{ url: string }]
      urls.set(child, url)
    })
    await Promise.all(begun)
  })
  afterAll(async () => {
    for (const child of [here, there]) child.kill('SIGKILL')
    client.disconnect()
    await redis.stop()
  })
  beforeEach(() => client.flushall())

  /** Asks a process; `sid` is what its response leaves in the browser, `undefined` if it leaves the cookie alone. */
  async function ask(child: ChildProcess, path: string, cookie = '') {
    const response = await fetch(`${urls.get(child)}${path}`, { headers: { cookie } })
    const [set] = response.headers.getSetCookie()
    return { status: response.status, text: await response.text(), sid: set?.split(';')[0] }
  }
  const keyOf = (sid: string) => `session:${/^sid=([^.]*)/.exec(sid)![1]}`
  async function logIn() {
    const { sid } = await ask(here, '/login')
    return { cookie: sid!, key: keyOf(sid!) }
  }
  const ways = ['change', 'save', 'regenerate', 'login', 'nothing']

  test('after a log-out in one, no request that the other has begun brings the session back', async () => {
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      const { cookie, key } = await logIn()
      expect(await client.exists(key)).toBe(1)
      const slow = []
      for (const way of ways) {
        const isHeld = once(from, 'message')
        slow.push(ask(from, `/slow/${way}`, cookie))
        await isHeld
      }
      expect((await ask(to, '/logout', cookie)).status).toBe(200)
      from.send('go')
      const responses = await Promise.all(slow)
      expect(responses.map(({ status }) => status)).toEqual([200, 409, 409, 409, 200])
      for (const { sid } of responses) expect(sid).toBeUndefined()
      expect(await client.keys('*')).toEqual([])
      expect((await ask(from, '/read', cookie)).text).toBe('{}')
    }
  })

  test('after a log-in in one, the planted id is worth nothing in the other, also to a request that has it loaded', async () => {
    const planted = (await ask(here, '/plant')).sid!
    const slow = []
    for (const way of ways) {
      const isHeld = once(here, 'message')
      slow.push(ask(here, `/slow/${way}`, planted))
      await isHeld
    }
    const { sid } = await ask(there, '/login', planted)
    here.send('go')
    const responses = await Promise.all(slow)
    expect(responses.map(({ status }) => status)).toEqual([200, 409, 409, 409, 200])
    for (const one of responses) expect(one.sid).toBeUndefined()
    expect(sid).not.toBe(planted)
    expect(await client.dbsize()).toBe(1)
    expect((await ask(here, '/read', planted)).text).toBe('{}')
    expect(JSON.parse((await ask(here, '/read', sid)).text)).toEqual({ cart: 1, user: 'ada' })
  })

  test('of a log-out and what comes at the same moment, only a renewal leaves its data, under an id of its own', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 60; round++) {
      const { cookie, key } = await logIn()
      const way = ways[round % ways.length]!
      const [response, end] = await Promise.all([ask(here, `/fast/${way}`, cookie), ask(there, '/logout', cookie)])
      expect(end.status).toBe(200)
      expect(await client.exists(key)).toBe(0)
      const own = response.status === 200 && response.sid !== undefined ? keyOf(response.sid) : key
      const left = await client.keys('*')
      outcomes.add(`${way} ${response.status} ${left.length}`)
      // No log-out could end another key than that of the response.
      expect(left, `${way}: ${response.status}`).toEqual(own === key ? [] : [own])
      // What came after the log-out begins anew, without the data of the session that has ended.
      const data = left.length > 0 && way !== 'regenerate' ? await client.get(own) : ''
      expect(data, way).not.toContain('ada')
      await client.flushall()
    }
    expect(outcomes.size).toBeGreaterThanOrEqual(ways.length)
  })
})
