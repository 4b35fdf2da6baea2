import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resultOf, type Target, targets } from '../../conformance/targets.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

const script = join(import.meta.dirname, '../fixtures/session-runtime.mjs')
const seenOn = (target: Target, redis = '') => resultOf(target, script, [target.adapter ?? '', redis])

const attributes = 'Path=/; HttpOnly; SameSite=Lax'
const expected = {
  cookies: '{"a":"1","__proto__":"x","b":"%zz","c":"\\"q\\"","d":"ü"}',
  forged: false,
  first: false,
  set: [`a=%C3%BC%3B%0D%0A%22.<mac>; Max-Age=60; ${attributes}`, `b=2; ${attributes}`],
  signed: '{"a":"ü;\\r\\n\\""}',
  tampered: '{}',
  login: [302, [`sid=<id>; Max-Age=86400; ${attributes}`]],
  planted: [200, '{}', []],
  read: '{"user":{"name":"ada"}}',
  edit: [200, [`sid=<id>; Max-Age=86400; ${attributes}`]],
  regenerated: [true, '{}'],
  logout: ['sid=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'],
  after: '{}',
}
// The client reads latin1.
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const wire = { ...expected, cookies: latin1(expected.cookies), signed: latin1(expected.signed) }

test.each(
  targets.map((target) => [target.name, target] as const),
)('cookies and sessions on %s', async (_name, target) => {
  expect(await seenOn(target)).toEqual(wire)
})

describe.skipIf(!hasRedis)('sessions in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const few = targets.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))
  test.each(few.map((target) => [target.name, target] as const))('on %s', async (_name, target) => {
    expect(await seenOn(target, redis.url)).toEqual(wire)
  })
})
