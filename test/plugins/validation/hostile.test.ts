import { RouteCollection, type RouteOptions, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

function serverOf(options: RouteOptions, seen: unknown[] = []): Server {
  const server = new Server({
    router: new RouteCollection(),
    logger: memoryLogger(),
    plugins: { urlencoded: true, json: { sizeLimit: '20mb' } },
  })
  server.post('/', options, (req) => {
    seen.push(req.body)
    return 'reached'
  })
  return server
}

interface Row {
  part: string
  path: string
  params: object
}
const rowsOf = (text: string) => (JSON.parse(text) as { errors: Row[] }).errors

describe('no spelling of a content type carries a body past its schema', () => {
  const bases = [
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/ld+json',
  ]
  const ends = [
    '',
    ';',
    '; charset=utf-8',
    ';charset=UTF-8',
    '; charset="utf-8"',
    ' ; charset=utf-8',
    '; charset=utf-16',
    '; foo=bar',
    ';;',
  ]
  const others = [
    ' application/json',
    'application/json ',
    '\tapplication/json',
    'application/json,text/plain',
    'text/plain, application/json',
    'application /json',
    'application/ json',
    'application/json\u00a0',
    'application//json',
    'application/jsonx',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    '*/*',
    'json',
  ]
  const spellings = [...bases.flatMap((base) => ends.map((end) => base + end)), ...others]
  const bodies = ['{"n":"x"}', '{"isAdmin":true}', '[]']

  test(`${spellings.length} spellings of ${bodies.length} bodies`, async () => {
    expect(spellings.length * bodies.length).toBe(183)
    const seen: unknown[] = []
    const body = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const server = serverOf({ body }, seen)
    const statuses: number[] = []
    for (const type of spellings) {
      for (const text of bodies) {
        const response = await server.inject({
          method: 'POST',
          url: '/',
          headers: { 'content-type': type },
          body: text,
        })
        statuses.push(response.status)
      }
    }
    expect(seen).toEqual([])
    expect([...new Set(statuses)].sort()).toEqual([415, 422])
  })
})

describe('large and wrong input', () => {
  const wrong = JSON.stringify(Array.from({ length: 100_000 }, () => 'x'))
  const schemas: Record<string, object> = {
    'an array of numbers': { type: 'array', items: { type: 'number' } },
    'after a reference': {
      type: 'array',
      items: { $ref: '#/$defs/n' },
      $defs: { n: { type: 'object', properties: { a: { $ref: '#/$defs/n' } } } },
    },
    'in anyOf': {
      anyOf: [
        { type: 'array', items: { type: 'number' } },
        { type: 'array', items: { type: 'boolean' } },
      ],
    },
    'of unique items': { type: 'array', maxItems: 100, items: { type: 'number' } },
  }
  test.each(Object.entries(schemas))('a hundred thousand wrong items: %s', async (_what, body) => {
    const server = serverOf({ body })
    const unchecked = serverOf({})
    const request = { method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, body: wrong }
    const answer = await server.inject(request)
    const rows = rowsOf(new TextDecoder().decode(answer.body))
    expect(answer.status).toBe(422)
    expect(rows.length).toBeLessThanOrEqual(20)
    expect(answer.body.byteLength).toBeLessThan(10_000)
    const both = await quickest(() => server.inject(request), 5, 50)
    const parsing = both.ms < 50 ? 0 : (await quickest(() => unchecked.inject(request))).ms
    expect(both.ms - parsing).toBeLessThan(50)
  })

  test('the second of two schemas is found after a hundred thousand errors of the first', async () => {
    const body = {
      anyOf: [
        { type: 'array', items: { type: 'number' } },
        { type: 'array', items: { type: 'string' } },
      ],
    }
    const response = await serverOf({ body }).inject.post('/', {
      body: wrong,
      headers: { 'content-type': 'application/json' },
    })
    response.assertStatus(200)
  })

  test('keys that a client chose do not make the response long', async () => {
    const body = { type: 'object', additionalProperties: { type: 'number' } }
    const sent = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}${'\u0001ü'.repeat(5_000)}`, 'x']))
    const response = await serverOf({ body }).inject.post('/', { body: sent })
    response.assertStatus(422)
    expect(Buffer.byteLength(response.text())).toBeLessThan(10_000)
  })

  test('the content of the schema does not make it long either', async () => {
    const body = { type: 'object', properties: { a: { enum: Array.from({ length: 5_000 }, (_, i) => `value ${i}`) } } }
    const response = await serverOf({ body }).inject.post('/', { body: { a: 1 } })
    expect(Buffer.byteLength(response.text())).toBeLessThan(10_000)
  })
})

describe('formats', () => {
  test.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-02-29T10:00:00Z', '2024-02-29 25:00'],
    ['email', 'ada@example.com', 'ada@'],
    ['uri', 'https://example.com/a?b#c', 'example'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
    ['ipv6', '::1', ':::1'],
    ['hostname', 'example.com', '-example'],
  ])('%s still means what it says', async (format, good, bad) => {
    const server = serverOf({ body: { type: 'object', properties: { a: { type: 'string', format } } } })
    ;(await server.inject.post('/', { body: { a: good } })).assertStatus(200)
    ;(await server.inject.post('/', { body: { a: bad } })).assertStatus(422)
  })
})

describe('values never come back', () => {
  const secret = 'hunter2hunter2'
  const jsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 3, pattern: '^x', format: 'email' },
      b: { enum: ['x'] },
      c: { const: 1 },
      d: { type: 'number' },
    },
    additionalProperties: false,
    required: ['e'],
  }
  const zod = z.strictObject({
    a: z.email().max(3).startsWith('x'),
    b: z.enum(['x']),
    c: z.literal(1),
    d: z.number(),
    e: z.string(),
  })
  test.each([
    ['Ajv', jsonSchema],
    ['Zod', zod],
  ])('by %s', async (_kind, body) => {
    const sent = { a: secret, b: secret, c: secret, d: secret }
    const response = await serverOf({ body }).inject.post('/', { body: sent })
    response.assertStatus(422)
    expect(response.text()).not.toContain(secret)
    expect(rowsOf(response.text()).length).toBeGreaterThan(3)
  })
})

describe('queries', () => {
  const query = {
    type: 'object',
    properties: {
      a: { type: 'integer' },
      list: { type: 'array', items: { type: 'integer' } },
      flag: { type: 'boolean' },
    },
  }
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  server.get('/', { query }, (req) => req.query as {})

  test.each<[string, unknown]>([
    ['?a=5', { a: 5 }],
    ['?list=1&list=2', { list: [1, 2] }],
    ['?list=1', { list: [1] }],
    ['?flag=true', { flag: true }],
    ['?__proto__=1&constructor=2&a=1', { a: 1 }],
    ['?a[]=1', { 'a[]': '1' }],
    ['?list=1&list[]=2', { list: [1], 'list[]': '2' }],
    ['?a[__proto__]=1', { 'a[__proto__]': '1' }],
    ['?a=1&a=2', 422],
    ['?a=x', 422],
    ['?a=1.5', 422],
    ['?a=Infinity', 422],
    ['?a=', 422],
    ['?flag=yes', 422],
  ])('%s', async (search, expected) => {
    const response = await server.inject.get(`/${search}`)
    if (typeof expected === 'number') response.assertStatus(expected)
    else response.assertStatus(200).assertBodyDeepEqual(expected as object)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

test('a query of ten thousand parameters is refused', async () => {
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  server.get('/', { query: { type: 'object' } }, () => 1)
  ;(await server.inject.get(`/?${'b=1&'.repeat(10_000)}`)).assertStatus(400)
})

test('names in a schema never become code, and inherited members are not given ones', async () => {
  const names = [
    '"',
    "'",
    '`',
    '\n',
    '\\',
    '\u2028',
    '*/',
    '"];throw 1;//',
    'constructor',
    'toString',
    'vErrors.push(err0);',
  ]
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: name, const: name }]))
  const server = serverOf({ body: { type: 'object', properties, required: names } })
  const body = Object.fromEntries(names.map((name) => [name, name]))
  ;(await server.inject.post('/', { body })).assertStatus(200)
  for (const name of names) {
    const { [name]: _, ...rest } = body
    ;(await server.inject.post('/', { body: rest })).assertStatus(422)
  }
})

test('inherited members are not given ones where they are only required', async () => {
  const server = serverOf({ body: { type: 'object', required: ['constructor'] } })
  ;(await server.inject.post('/', { body: {} })).assertStatus(422)
})

test('an error in an error handler leaves a bare 500, and the next request is served', async () => {
  const server = serverOf({ body: { type: 'object' } })
  server.setValidationErrorHandler({ map: () => Promise.reject(new Error('no')) })
  const response = await server.inject.post('/', { body: [] })
  response.assertStatus(500)
  expect(response.text()).toBe('')
  ;(await server.inject.post('/', { body: {} })).assertStatus(200)
})
