import { AssertionError } from 'node:assert'
import type { InjectResponse } from 'framework'
import { MockResponse } from 'framework/testing'
import { describe, expect, test } from 'vitest'

const bytes = (text: string) => new TextEncoder().encode(text)

function respond(body: unknown, headers: InjectResponse['headers'] = {}, status = 200): MockResponse {
  const answer = {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: body === undefined ? new Uint8Array() : bytes(JSON.stringify(body)),
  }
  return new MockResponse('GET /x', answer)
}

/** The assertion holds and returns the response. */
function holds(res: MockResponse, assertion: (res: MockResponse) => unknown): void {
  expect(assertion(res)).toBe(res)
}

/** The assertion fails, with what a runner needs for its diff. */
function fails(res: MockResponse, assertion: (res: MockResponse) => unknown): AssertionError {
  let thrown: unknown
  try {
    assertion(res)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(AssertionError)
  const error = thrown as AssertionError
  expect(error.message).toMatch(/^GET \/x: expected /)
  expect(error.code).toBe('ERR_ASSERTION')
  expect('actual' in error && 'expected' in error).toBe(true)
  return error
}

describe('the data of a response', () => {
  test.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['Application/Problem+JSON; charset=utf-8', '[1]', [1]],
    ['application/json', 'null', null],
    ['text/plain; charset=utf-8', 'é', 'é'],
    ['text/html', '<p>', '<p>'],
    ['image/svg+xml', '<svg/>', '<svg/>'],
    ['application/x-www-form-urlencoded', 'a=1', 'a=1'],
  ])('body() of %s', (type, text, value) => {
    const res = new MockResponse('GET /', { status: 200, headers: { 'content-type': type }, body: bytes(text) })
    expect(res.body()).toEqual(value)
    expect(res.text()).toBe(text)
    expect([...res.raw()]).toEqual([...bytes(text)])
  })

  test.each(['application/octet-stream', 'image/png', ''])('body() of %j is bytes', (type) => {
    const res = new MockResponse('GET /', { status: 200, headers: { 'content-type': type }, body: bytes('é') })
    expect(res.body()).toBeInstanceOf(Uint8Array)
    expect([...res.body<Uint8Array>()]).toEqual([0xc3, 0xa9])
  })

  test('body() of nothing is undefined, and of broken JSON an error with the text', () => {
    expect(respond(undefined).body()).toBeUndefined()
    const broken = new MockResponse('GET /', {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: bytes('{"a"'),
    })
    expect(() => broken.body()).toThrow('{"a"')
    expect(broken.text()).toBe('{"a"')
  })

  test('headers() is a plain object whose look-up ignores case', () => {
    const headers = respond({}, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }).headers()
    expect(headers).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'x-one': '1',
      'set-cookie': ['a=1', 'b=2'],
    })
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
    expect(Object.keys(headers)).toEqual(['content-type', 'x-one', 'set-cookie'])
    expect([headers['X-One'], headers['x-ONE'], headers['Set-Cookie']]).toEqual(['1', '1', ['a=1', 'b=2']])
    expect(['X-One' in headers, 'X-Two' in headers, headers['X-Two']]).toEqual([true, false, undefined])
    expect(JSON.parse(JSON.stringify(headers))).toEqual(headers)
  })

  test('cookies() and cookie()', () => {
    const res = respond(
      {},
      {
        'set-cookie': ['a=1', 'b=x%20y; Path=/; HttpOnly; Max-Age=5; SameSite=Lax', 'a=2', 'q="v"', 'bad=%zz', 'none'],
      },
    )
    expect(res.cookies()).toEqual({ a: '2', b: 'x y', q: 'v', bad: '%zz', none: '' })
    expect(res.cookie('b')).toEqual({
      name: 'b',
      value: 'x y',
      attributes: { path: '/', httponly: true, 'max-age': '5', samesite: 'Lax' },
    })
    expect(res.cookie('c')).toBeUndefined()
    expect(respond({}).cookies()).toEqual({})
  })
})

describe('assertStatus', () => {
  test('holds', () => holds(respond({}, {}, 201), (res) => res.assertStatus(201)))
  test('fails, and shows the body', () => {
    const error = fails(respond({ why: 'so' }, {}, 500), (res) => res.assertStatus(200))
    expect(error).toMatchObject({ actual: 500, expected: 200 })
    expect(error.message).toContain('status 200, got 500. Body: {"why":"so"}')
    expect(fails(respond(undefined), (res) => res.assertStatus(404)).message).toContain('(empty)')
    expect(fails(respond('x'.repeat(5_000)), (res) => res.assertStatus(404)).message.length).toBeLessThan(500)
  })
})

describe('headers', () => {
  const res = respond({}, { 'x-one': 'Value', 'content-length': '5', 'set-cookie': ['a=1', 'b=2'] })

  test.each<[string, string | number | RegExp | string[]]>([
    ['x-one', 'Value'],
    ['X-ONE', 'Value'],
    ['x-one', /^val/i],
    ['x-one', /a/g],
    ['Content-Length', 5],
    ['set-cookie', 'b=2'],
    ['set-cookie', /^a=/],
    ['set-cookie', ['a=1', 'b=2']],
  ])('assertHeader(%j, %s) holds', (name, value) => {
    holds(res, (one) => one.assertHeader(name, value))
    holds(res, (one) => one.assertHeader(name, value))
  })

  test.each<[string, string | number | RegExp | string[]]>([
    ['x-one', 'value'],
    ['x-one', 'Val'],
    ['x-one', /^v/],
    ['x-two', 'Value'],
    ['x-two', /.*/],
    ['x-two', 'undefined'],
    ['content-length', 6],
    ['set-cookie', 'c=3'],
    ['set-cookie', ['a=1']],
    ['constructor', /./],
  ])('assertHeader(%j, %s) fails', (name, value) => {
    fails(res, (one) => one.assertHeader(name, value))
  })

  test('the failure has both values', () => {
    const error = fails(res, (one) => one.assertHeader('X-One', 'other'))
    expect(error).toMatchObject({ actual: 'Value', expected: 'other' })
    expect(error.message).toContain('the header X-One to be "other", got "Value"')
  })

  test('assertHeaderExists, assertHeaderNotExists', () => {
    for (const name of ['x-one', 'X-One']) {
      holds(res, (one) => one.assertHeaderExists(name))
      fails(res, (one) => one.assertHeaderNotExists(name))
    }
    for (const name of ['x-two', 'constructor', '__proto__']) {
      holds(res, (one) => one.assertHeaderNotExists(name))
      fails(res, (one) => one.assertHeaderExists(name))
    }
  })
})

describe('cookies', () => {
  const res = respond({}, { 'set-cookie': ['sid=a%20b; Path=/; HttpOnly; SameSite=Lax', 'empty='] })

  test('assertCookie', () => {
    holds(res, (one) => one.assertCookie('sid', 'a b'))
    holds(res, (one) => one.assertCookie('sid', 'a b', { path: '/', HttpOnly: true }))
    holds(res, (one) => one.assertCookie('sid', 'a b', { secure: undefined }))
    holds(res, (one) => one.assertCookie('empty', ''))
    fails(res, (one) => one.assertCookie('sid', 'a%20b'))
    fails(res, (one) => one.assertCookie('sid', 'a b', { secure: true }))
    fails(res, (one) => one.assertCookie('sid', 'a b', { path: '/x' }))
    fails(res, (one) => one.assertCookie('Sid', 'a b'))
    fails(res, (one) => one.assertCookie('none', ''))
    expect(fails(res, (one) => one.assertCookie('sid', 'x'))).toMatchObject({
      actual: { value: 'a b' },
      expected: { value: 'x' },
    })
  })

  test('assertCookieExists, assertCookieNotExists', () => {
    for (const name of ['sid', 'empty']) {
      holds(res, (one) => one.assertCookieExists(name))
      fails(res, (one) => one.assertCookieNotExists(name))
    }
    for (const name of ['none', 'SID', 'constructor', 'toString']) {
      holds(res, (one) => one.assertCookieNotExists(name))
      fails(res, (one) => one.assertCookieExists(name))
    }
    holds(respond({}), (one) => one.assertCookieNotExists('sid'))
    fails(respond({}), (one) => one.assertCookieExists('sid'))
  })
})

describe('bodies', () => {
  const body = { id: 1, name: 'Ada', tags: ['a', 'b', 'c'], nested: { list: [{ x: 1, y: 2 }, { x: 3 }], none: null } }

  const parts: unknown[] = [
    {},
    body,
    { id: 1 },
    { nested: {} },
    { nested: { none: null } },
    { nested: { list: [{ x: 1 }] } },
    { nested: { list: [{ x: 3 }] } },
    { tags: [] },
    { tags: ['a', 'c'] },
    { tags: ['b'] },
  ]
  test.each(parts.map((part) => [part]))('%j is a part', (part) => {
    holds(respond(body), (res) => res.assertBodySubset(part))
    const error = fails(respond(body), (res) => res.assertBodyNotSubset(part))
    expect(error).toMatchObject({ actual: body, expected: part })
  })

  const others: unknown[] = [
    { id: '1' },
    { id: 2 },
    { missing: undefined },
    { missing: 1 },
    { nested: null },
    { nested: [] },
    { nested: { none: {} } },
    { nested: { list: [{ x: 3 }, { x: 1 }] } },
    { nested: { list: [{ x: 1, y: 3 }] } },
    { tags: ['c', 'a'] },
    { tags: ['a', 'a'] },
    { tags: {} },
    { tags: 'a' },
    { toString: {} },
    [],
    null,
    undefined,
    'x',
  ]
  test.each(others.map((part) => [part]))('%j is not a part', (part) => {
    holds(respond(body), (res) => res.assertBodyNotSubset(part))
    const error = fails(respond(body), (res) => res.assertBodySubset(part))
    expect(error.actual).toEqual(body)
    expect(error.expected).toEqual(part)
  })

  const equal: [unknown, unknown][] = [
    [body, structuredClone(body)],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [[], []],
    [null, null],
    [0, 0],
    ['x', 'x'],
    [undefined, undefined],
  ]
  test.each(equal)('%j equals %j', (actual, expected) => {
    holds(respond(actual), (res) => res.assertBodyDeepEqual(expected))
    holds(respond(actual), (res) => res.assertBodySubset(expected))
    fails(respond(actual), (res) => res.assertBodyNotDeepEqual(expected))
  })

  const different: [unknown, unknown][] = [
    [body, { id: 1 }],
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: 1 }, { a: '1' }],
    [
      [1, 2],
      [2, 1],
    ],
    [[1, 2], [1]],
    [{}, []],
    [null, undefined],
    [0, false],
    [undefined, {}],
  ]
  test.each(different)('%j does not equal %j', (actual, expected) => {
    holds(respond(actual), (res) => res.assertBodyNotDeepEqual(expected))
    const error = fails(respond(actual), (res) => res.assertBodyDeepEqual(expected))
    expect(error.actual).toEqual(actual)
    expect(error.expected).toEqual(expected)
  })

  test('bytes are compared by content', () => {
    const res = new MockResponse('GET /x', { status: 200, headers: {}, body: new Uint8Array([1, 2]) })
    for (const same of [new Uint8Array([1, 2]), Buffer.from([1, 2])]) {
      holds(res, (one) => one.assertBodyDeepEqual(same).assertBodySubset(same))
      fails(res, (one) => one.assertBodyNotDeepEqual(same))
      fails(res, (one) => one.assertBodyNotSubset(same))
    }
    fails(res, (one) => one.assertBodyDeepEqual(new Uint8Array([1])))
    fails(res, (one) => one.assertBodyDeepEqual(new Uint8Array([1, 3])))
    holds(res, (one) => one.assertBodyNotDeepEqual(new Uint8Array([1, 2, 3])))
  })
})

describe('assertCustom', () => {
  const res = respond({ a: 1 })
  test('holds unless it throws or returns false', () => {
    holds(res, (one) => one.assertCustom((response) => expect(response.statusCode()).toBe(200)))
    holds(res, (one) => one.assertCustom(() => true))
    fails(res, (one) => one.assertCustom(() => false))
    expect(() => res.assertCustom(() => expect(1).toBe(2))).toThrow('expected 1 to be 2')
  })
  test('an async function is refused: no one would wait for it', () => {
    // @ts-expect-error the types refuse it too
    expect(() => res.assertCustom(async () => {})).toThrow('a synchronous function')
  })
})

test('assertions are chained', () => {
  const res = respond({ a: 1 }, { 'set-cookie': 'sid=1' })
  res
    .assertStatus(200)
    .assertHeader('content-type', /json/)
    .assertHeaderExists('content-type')
    .assertHeaderNotExists('x')
    .assertCookie('sid', '1')
    .assertCookieExists('sid')
    .assertCookieNotExists('x')
    .assertBodySubset({ a: 1 })
    .assertBodyDeepEqual({ a: 1 })
    .assertBodyNotSubset({ b: 1 })
    .assertBodyNotDeepEqual({})
    .assertCustom(() => true)
})
