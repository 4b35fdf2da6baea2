import { connect } from 'node:net'
import { RouteCollection, Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { parseJson } from '../../../plugins/json/plugin.ts'
import { Chance } from '../../support/chance.ts'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function makeServer(json: object = {}) {
  const logger = memoryLogger()
  const server = new Server({
    plugins: { json },
    router: new RouteCollection(),
    logger,
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
  })
  servers.push(server)
  server.post('/echo', (req) => ({ body: req.body }))
  return { server, log: logger.entries }
}

const refused = (why: string | RegExp) => ({ code: 'JsonNotValidError', message: expect.stringMatching(why) })

describe('invalid JSON', () => {
  test.each([
    ['{', 'it ends too early'],
    ['', 'it ends too early'],
    ['[1,', 'it ends too early'],
    ['"abc', 'it ends too early'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{"a":1,}', 'line 1, column 8'],
    ['{a:1}', 'line 1, column 2'],
    ["{'a':1}", 'line 1, column 2'],
    ['[1,]', 'line 1, column 4'],
    ['[1 2]', 'line 1, column 4'],
    ['{} {}', 'line 1, column 4'],
    ['01', 'line 1, column 2'],
    ['1.', 'line 1, column 2'],
    ['+1', 'line 1, column 1'],
    ['NaN', 'line 1, column 1'],
    ['undefined', 'line 1, column 1'],
    ['truex', 'line 1, column 5'],
    ['"\\x"', 'line 1, column 2'],
    ['"\\u12g4"', 'line 1, column 2'],
    ['"a\nb"', 'line 1, column 3'],
    ['{\n  "a": 1,\n  "b" 2\n}', 'line 3, column 7'],
    ['// a\n1', 'line 1, column 1'],
    ['[1}', 'line 1, column 3'],
    ['{"a":1]', 'line 1, column 7'],
    ['\u00a01', 'line 1, column 1'],
    ['secret-token', 'line 1, column 1'],
  ])('%j: %s', async (text, where) => {
    const { server } = makeServer()
    async function* streamed() {
      yield new TextEncoder().encode(text)
    }
    const headers = { 'content-type': 'application/json' }
    const res = await server.inject.post('/echo', { body: streamed(), headers })
    res.assertStatus(400).assertBodyDeepEqual({
      code: 'JsonNotValidError',
      message: `JSON_NOT_VALID: the body is not valid JSON: ${where}`,
    })
    expect(res.text()).not.toContain('secret')
  })

  test.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate half', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['cut short', [0x22, 0xe2, 0x82]],
    ['Latin-1', [0x22, 0xfc, 0x22]],
    ['UTF-16 with a mark', [0xff, 0xfe, 0x31, 0x00]],
  ])('bytes that are not UTF-8: %s', async (_name, bytes) => {
    const { server } = makeServer()
    const headers = { 'content-type': 'application/json' }
    const res = await server.inject.post('/echo', { body: Uint8Array.from(bytes), headers })
    expect(res.assertStatus(400).body()).toEqual(refused('it is not UTF-8'))
  })

  test.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['UTF-16 without a mark', [0x7b, 0x00, 0x7d, 0x00]],
  ])('%s', async (_name, bytes) => {
    const { server } = makeServer()
    const headers = { 'content-type': 'application/json' }
    const res = await server.inject.post('/echo', { body: Uint8Array.from(bytes), headers })
    expect(res.assertStatus(400).body()).toEqual(refused(/line 1, column [12]$/))
  })
})

describe('keys that reach a prototype', () => {
  test.each([
    '{"__proto__":{"polluted":1}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":{"polluted":1}}',
    '{"__pr\\u006fto__":{"polluted":1}}',
    '{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"constructor":{"\\u0070rototype":1}}',
    '{"c\\u006fnstructor":{"prototype":1}}',
  ])('%s is a 400', async (text) => {
    const { server } = makeServer()
    const res = await server.inject.post('/echo', { body: text })
    expect(res.assertStatus(400).body()).toEqual(refused('__proto__ or constructor.prototype'))
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test.each([
    ['{"constructor":1,"prototype":{"a":1}}', { constructor: 1, prototype: { a: 1 } }],
    ['{"constructor":{"name":"x"}}', { constructor: { name: 'x' } }],
    ['"__proto__"', '__proto__'],
    ['["__proto__","constructor","prototype"]', ['__proto__', 'constructor', 'prototype']],
    ['{"a":1,"a":2}', { a: 2 }],
  ])('%s is fine', async (text, value) => {
    const { server } = makeServer()
    ;(await server.inject.post('/echo', { body: text })).assertStatus(200).assertBodyDeepEqual({ body: value })
  })
})

describe('depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const objects = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`

  test.each([
    [undefined, 64],
    [32, 32],
    [1, 1],
  ])('with maxDepth %s, %i levels', async (maxDepth, limit) => {
    const { server } = makeServer({ maxDepth })
    for (const make of [nested, objects]) {
      ;(await server.inject.post('/echo', { body: make(limit) })).assertStatus(200)
      const res = await server.inject.post('/echo', { body: make(limit + 1) })
      expect(res.assertStatus(400).body()).toEqual(refused(`deeper than ${limit} levels`))
    }
  })

  test('brackets in strings and many shallow ones do not count', async () => {
    const { server } = makeServer()
    const body = JSON.stringify([Array.from({ length: 500 }, () => [{}]), '['.repeat(500), '\\"['.repeat(100)])
    ;(await server.inject.post('/echo', { body })).assertStatus(200)
  })

  test('of any text exactly those with more levels are refused', () => {
    const chance = new Chance(20_261_122)
    const names = ['a', 'b', 'c1', '_', '', '},{', '},{"a', ']}]', '[[[[', '{', '\\', '\\"', ' ', ',"a']
    const make = (levels: number): unknown => {
      if (levels === 0 || chance.is(0.2)) return chance.pick<unknown>([1, true, null, ...names])
      const list = Array.from({ length: chance.below(5) }, () => make(levels - 1))
      return chance.is(0.5) ? list : Object.fromEntries(list.map((one) => [chance.pick(names), one]))
    }
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
    const refusal = (text: string, limit: number) => {
      try {
        parseJson(Buffer.from(text), limit)
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    const counts = { deeper: 0, taken: 0, broken: 0 }
    for (let i = 0; i < 2_000; i++) {
      const value = make(6)
      const text = JSON.stringify(value, undefined, chance.pick([0, 0, 1, '\t']))
      const limit = 1 + chance.below(6)
      const isDeeper = depth(value) > limit
      const why = refusal(text, limit)
      expect(isDeeper ? why?.includes(`deeper than ${limit} levels`) : why === undefined, text).toBe(true)
      counts[isDeeper ? 'deeper' : 'taken']++
      // Cut or with another character somewhere, a text that is still JSON is no deeper than allowed.
      const at = chance.below(text.length)
      const other = text.slice(0, at) + chance.pick(['', '"', '{', '}', '[', ']', ',', '},{"a']) + text.slice(at + 1)
      if (refusal(other, limit) === undefined) expect(depth(JSON.parse(other)), other).toBeLessThanOrEqual(limit)
      else counts.broken++
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(200)
  })

  test('of a long list of objects, one that is too deep is found wherever it is', () => {
    const chance = new Chance(20_261_123)
    for (let i = 0; i < 500; i++) {
      const limit = chance.pick([3, 8, 20, 64])
      const levels = limit - 3 + chance.below(5)
      // The list is one level, so is the innermost object.
      let chain: unknown = {}
      for (let level = 2; level < levels; level++)
        chain = chance.pick<unknown>([{ '': chain }, { a: chain }, [chain], [{}, chain]])
      const item = () => ({ a: 'x'.repeat(chance.below(40)), b: chance.pick(['', '},{"x', '{', '[', '}']) })
      const list: unknown[] = Array.from({ length: 60 }, item)
      list.splice(chance.below(60), 0, chain)
      const refused = () => parseJson(Buffer.from(JSON.stringify(list, undefined, chance.pick([0, 0, 1]))), limit)
      if (levels > limit) expect(refused).toThrow(`deeper than ${limit} levels`)
      else expect(refused).not.toThrow()
    }
  })

  test('brackets that are never closed', async () => {
    const { server } = makeServer()
    ;(await server.inject.post('/echo', { body: '['.repeat(100_000) })).assertStatus(400)
    ;(await server.inject.post('/echo', { body: '"['.repeat(1_000) })).assertStatus(400)
  })
})

describe('bombs keep the event loop free', () => {
  const bombs: [string, () => string, number][] = [
    ['a million nested arrays', () => '['.repeat(1_000_000) + ']'.repeat(1_000_000), 400],
    ['a million open objects', () => '{"a":'.repeat(350_000), 400],
    ['1e5 keys', () => `{${Array.from({ length: 100_000 }, (_, i) => `"key${i}":${i}`).join()}}`, 200],
    ['a number of 1e5 digits', () => '1'.repeat(100_000), 200],
    ['a string that never ends', () => `"${'a'.repeat(1_900_000)}`, 400],
    ['escapes that never end', () => `"${'\\u0061'.repeat(300_000)}`, 400],
    ['a million brackets in a string', () => `"${'['.repeat(1_000_000)}"`, 200],
  ]
  test.each(bombs)('%s', async (_name, make, status) => {
    const { server, log } = makeServer({ sizeLimit: '3mb' })
    server.post('/swallow', () => 'done')
    const body = make()
    await server.inject.post('/swallow', { body: '{}' })
    const { result, ms } = await quickest(() => server.inject.post('/swallow', { body }), 5, 100)
    result.assertStatus(status)
    expect(log.filter((entry) => entry.level === 'error')).toEqual([])
    // The bar is 50 ms on a quiet machine; one that has more to do has colder caches.
    expect(ms).toBeLessThan(100)
  })
})

describe('over a socket', () => {
  /** Writes raw bytes, and resolves to the response when the server has closed or 2 s have passed. */
  async function talk(port: number, head: string, write: (chunk: string) => Promise<boolean>) {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    let closed = false
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('close', () => {
      closed = true
    })
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(head)
    let sent = 0
    const until = Date.now() + 20_000
    while (!closed && Date.now() < until) {
      const chunk = 'a'.repeat(10_000)
      if (await write(chunk)) {
        socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
        sent += chunk.length
      }
      await pause(2)
    }
    socket.destroy()
    return { answer, closed, sent }
  }

  test('ten gigabytes announced, and an endless chunked body, are a 413 and a closed connection', async () => {
    const { server } = makeServer()
    const { port } = await server.listen()
    const head = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
    const announced = await talk(port, `${head}content-length: 10000000000\r\n\r\n`, async () => false)
    expect(announced).toMatchObject({ closed: true, answer: expect.stringMatching(/^HTTP\/1\.1 413 /) })
    const endless = await talk(port, `${head}transfer-encoding: chunked\r\n\r\n`, async () => true)
    expect(endless).toMatchObject({ closed: true, answer: expect.stringMatching(/^HTTP\/1\.1 413 /) })
    expect(endless.answer).toContain('PayloadTooLargeError')
  })

  test('JSON, no JSON, a BOM and an empty chunked body answer as in process', async () => {
    const { server } = makeServer()
    await server.listen()
    const headers = { 'content-type': 'application/json' }
    const statusOf = async (body: string) =>
      (await fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', body, headers })).status
    expect([await statusOf('{"a":1}'), await statusOf('{'), await statusOf('\ufeff{}'), await statusOf('')]).toEqual([
      200, 400, 400, 200,
    ])
  })
})
