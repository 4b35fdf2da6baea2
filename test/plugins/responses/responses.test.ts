import { Type as LegacyType } from '@sinclair/typebox'
import { type Response, RouteCollection, type RouteOptions, Server } from 'framework'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Entry, memoryLogger } from '../../support/kernel.ts'

function serverOf(logs: Entry[] = []): Server {
  return new Server({ router: new RouteCollection(), logger: memoryLogger(logs) })
}

/** The response for one value under one schema: status, text, and the log. */
async function answer(schema: object, value: unknown, more: RouteOptions = {}) {
  const logs: Entry[] = []
  const server = serverOf(logs)
  server.get('/thing/:id', { responses: { 200: schema }, ...more }, () => value)
  const response = await server.inject.get('/thing/1')
  return { status: response.statusCode(), text: response.text(), logs }
}

const sent = async (schema: object, value: unknown) => {
  const { status, text } = await answer(schema, value)
  return status === 200 ? (JSON.parse(text) as unknown) : status
}

const User = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    address: { type: 'object', properties: { city: { type: 'string' } } },
    roles: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  },
  required: ['id'],
} as const
const full = {
  id: 1,
  name: 'ada',
  password: 'secret',
  address: { city: 'London', secret: 'secret' },
  roles: [{ name: 'admin', secret: 'secret' }],
}
const picked = { id: 1, name: 'ada', address: { city: 'London' }, roles: [{ name: 'admin' }] }

// biome-ignore lint/suspicious/noThenProperty: as the promises of some libraries are
const thenable = { then: (done: (result: object) => void) => done({ value: 'late' }) }

test('a Map under a schema without required members is a failure, and no silent {}', async () => {
  const { status, text, logs } = await answer(
    { type: 'object', properties: { a: { type: 'integer' } } },
    new Map([['a', 1]]),
  )
  expect({ status, text }).toEqual({ status: 500, text: '' })
  expect(logs.map(({ message }) => message)).toEqual([expect.stringContaining('nothing of the Map would be left')])
})

describe('only members of the schema are sent', () => {
  const kinds: Record<string, object> = {
    'JSON Schema': User,
    'TypeBox 0.34': LegacyType.Object({
      id: LegacyType.Integer(),
      name: LegacyType.String(),
      address: LegacyType.Object({ city: LegacyType.String() }),
      roles: LegacyType.Array(LegacyType.Object({ name: LegacyType.String() })),
    }),
    'TypeBox 1': Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      address: Type.Object({ city: Type.String() }),
      roles: Type.Array(Type.Object({ name: Type.String() })),
    }),
    'Zod 4': z.object({
      id: z.int(),
      name: z.string(),
      address: z.object({ city: z.string() }),
      roles: z.array(z.object({ name: z.string() })),
    }),
  }
  test.each(Object.entries(kinds))('by %s', async (_kind, schema) => {
    expect(await sent(schema, full)).toEqual(picked)
  })

  const ways: Record<string, (res: Response) => unknown> = {
    'a returned value': () => full,
    'a returned promise': async () => full,
    'res.ok': (res) => res.ok(full),
    'res.json': (res) => res.json(full),
    'res.send': (res) => res.send(full),
    'res.status().json': (res) => res.status(200).json(full),
    'a response given later': (res) => new Promise<void>((resolve) => setImmediate(() => resolve(void res.ok(full)))),
  }
  test.each(
    Object.entries(ways),
  )('by %s, on static and dynamic routes, with and without middlewares', async (_way, give) => {
    const server = serverOf()
    const middlewares = [(_req: unknown, _res: unknown, next: () => unknown) => next()]
    const options = { responses: { 200: User } }
    server.get('/static', options, (_req, res) => give(res) as never)
    server.get('/dynamic/:id', options, (_req, res) => give(res) as never)
    server.get('/behind', { ...options, middlewares }, (_req, res) => give(res) as never)
    for (const path of ['/static', '/dynamic/1', '/behind']) {
      ;(await server.inject.get(path)).assertStatus(200).assertBodyDeepEqual(picked)
      const response = await server.fetch(new Request(`http://localhost${path}`))
      expect(await response.json()).toEqual(picked)
    }
  })

  test('over a socket, with the right length', async () => {
    const server = new Server({
      router: new RouteCollection(),
      logger: memoryLogger(),
      port: 0,
      host: '127.0.0.1',
      drainWindow: 0,
    })
    server.get('/', { responses: { 200: User } }, () => ({ ...full, name: 'ü' }))
    const { port } = await server.listen()
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const text = await response.text()
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    expect(JSON.parse(text)).toEqual({ ...picked, name: 'ü' })
    await server.close()
  })

  test('each status by its own schema, a status without one as JSON', async () => {
    const server = serverOf()
    const responses = {
      200: { type: 'object' },
      404: { type: 'object', properties: { code: { type: 'string' } } },
    } as const
    server.get('/ok', { responses }, () => full)
    server.get('/missing', { responses }, (_req, res) => res.status(404).send({ code: 'x', query: 'secret' } as {}))
    server.get('/other', { responses }, (_req, res: Response) => res.conflict(full))
    ;(await server.inject.get('/ok')).assertBodyDeepEqual({})
    ;(await server.inject.get('/missing')).assertStatus(404).assertBodyDeepEqual({ code: 'x' })
    ;(await server.inject.get('/other')).assertStatus(409).assertBodyDeepEqual(full)
  })
})

describe('keywords', () => {
  const string = { type: 'string' }
  test.each<[string, object, unknown, unknown]>([
    [
      'additional properties that are allowed',
      { type: 'object', properties: { a: string }, additionalProperties: true },
      { a: 'a', b: { c: 1 } },
      { a: 'a', b: { c: 1 } },
    ],
    [
      'additional properties with a schema',
      { type: 'object', additionalProperties: { type: 'object', properties: { a: string } } },
      { x: { a: 'a', b: 1 } },
      { x: { a: 'a' } },
    ],
    ['patterns', { type: 'object', patternProperties: { '^x-': string } }, { 'x-a': 'a', b: 'b' }, { 'x-a': 'a' }],
    ['nothing at all', {}, { any: [1, { b: 2 }] }, { any: [1, { b: 2 }] }],
    ['null by type', { type: ['string', 'null'] }, null, null],
    ['null by nullable', { type: 'object', nullable: true, properties: {} }, null, null],
    [
      'several types',
      { type: ['integer', 'string', 'object'], properties: { a: string } },
      { a: 'a', b: 1 },
      { a: 'a' },
    ],
    [
      'anyOf',
      {
        anyOf: [
          { type: 'object', properties: { k: { const: 'a' }, a: string }, required: ['k'] },
          { type: 'object', properties: { k: { const: 'b' }, b: string }, required: ['k'] },
        ],
      },
      { k: 'b', a: 'secret', b: 'b' },
      { k: 'b', b: 'b' },
    ],
    [
      'anyOf beside properties',
      {
        type: 'object',
        properties: { id: { type: 'integer' } },
        anyOf: [{ properties: { a: string }, required: ['a'] }, { properties: { b: string } }],
      },
      { id: 1, b: 'b', c: 'c' },
      { id: 1, b: 'b' },
    ],
    [
      'allOf',
      { allOf: [{ properties: { a: string } }, { properties: { b: string } }] },
      { a: 'a', b: 'b', c: 'c' },
      { a: 'a', b: 'b' },
    ],
    [
      'if, then, else',
      {
        type: 'object',
        properties: { k: string },
        if: { properties: { k: { const: 'a' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { a: string } },
        else: { properties: { b: string } },
      },
      { k: 'x', a: 'a', b: 'b' },
      { k: 'x', b: 'b' },
    ],
    [
      'references',
      { type: 'object', properties: { a: { $ref: '#/$defs/text' }, b: { $ref: '#' } }, $defs: { text: string } },
      { a: 'a', b: { a: 'b', c: 1 } },
      { a: 'a', b: { a: 'b' } },
    ],
    [
      'tuples',
      { type: 'array', items: [string, { type: 'object', properties: { a: string } }] },
      ['a', { a: 'a', b: 1 }],
      ['a', { a: 'a' }],
    ],
    [
      'defaults',
      { type: 'object', properties: { a: { type: 'string', default: 'x' } }, required: ['a'] },
      {},
      { a: 'x' },
    ],
    [
      'dates',
      {
        type: 'object',
        properties: { a: { type: 'string', format: 'date-time' }, b: { type: 'string', format: 'date' } },
      },
      { a: new Date(0), b: new Date(0) },
      { a: '1970-01-01T00:00:00.000Z', b: '1970-01-01' },
    ],
    ['toJSON', { type: 'object', properties: { a: string } }, { toJSON: () => ({ a: 'a', b: 'b' }) }, { a: 'a' }],
    [
      'getters of a class',
      { type: 'object', properties: { a: string } },
      new (class {
        get a() {
          return 'a'
        }
      })(),
      { a: 'a' },
    ],
    [
      'a recursive TypeBox type',
      LegacyType.Recursive((self) => LegacyType.Object({ n: LegacyType.Integer(), next: LegacyType.Optional(self) })),
      { n: 1, x: 1, next: { n: 2, x: 2 } },
      { n: 1, next: { n: 2 } },
    ],
    ['undefined members', User, { id: 1, name: undefined }, { id: 1 }],
    ['a transform of Zod', z.object({ a: z.number().transform(String) }), { a: 5, b: 1 }, { a: '5' }],
  ])('%s', async (_what, schema, value, expected) => {
    expect(await sent(schema, value)).toEqual(expected)
  })
})

describe('a value that the schema cannot represent is a 500 without a body, and one line', () => {
  const cyclic: Record<string, unknown> = { id: 1 }
  cyclic.self = cyclic
  const withSelf = { type: 'object', properties: { id: { type: 'integer' }, self: { $ref: '#' } } }
  test.each<[string, object, unknown]>([
    ['a missing member', User, { name: 'ada' }],
    ['a text for a number', User, { id: '1' }],
    ['a number for a text', User, { id: 1, name: 5 }],
    ['null', User, { id: 1, name: null }],
    ['a fraction for a whole number', User, { id: 1.5 }],
    ['NaN', { type: 'number' }, Number.NaN],
    ['a text for an object', User, 'text'],
    ['an array for an object', User, [full]],
    ['an object for an array', { type: 'array' }, {}],
    ['a BigInt', User, { id: 1n }],
    ['a BigInt in a free place', {}, { id: 1n }],
    ['a cycle in a free place', {}, cyclic],
    ['a cycle in a recursive schema', withSelf, cyclic],
    [
      'a getter that throws',
      User,
      {
        get id() {
          throw new Error('no')
        },
      },
    ],
    [
      'a toJSON that throws',
      User,
      {
        toJSON() {
          throw new Error('no')
        },
      },
    ],
    ['an unlisted value', { enum: ['a', 'b'] }, 'c'],
    ['nothing of anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 5],
    ['a function', {}, { toJSON: () => () => 1 }],
    ['a member that is inherited', { type: 'object', required: ['constructor'] }, {}],
    ['what Zod refuses', z.object({ id: z.int() }), { id: 'x' }],
    ['an asynchronous validator', z.object({ id: z.int().refine(async () => true) }), { id: 1 }],
    ['one that fails', z.object({ id: z.int().refine(() => Promise.reject(new Error('late'))) }), { id: 1 }],
    ['one of a library', { '~standard': { version: 1, vendor: 'own', validate: () => thenable } }, { id: 1 }],
  ])('%s', async (_what, schema, value) => {
    const { status, text, logs } = await answer(schema, value)
    expect([status, text]).toEqual([500, ''])
    expect(logs).toHaveLength(1)
    expect(logs[0]!.message).toMatch(/the response 200 of GET \/thing\/:id/)
  })

  test('the line has the place and not the value', async () => {
    const { logs } = await answer(User, { id: 1, roles: [{ name: 'a' }, { name: { secret: 'hunter2' } }] })
    expect(logs[0]!.message).toContain('/roles/1/name must be a string')
    expect(JSON.stringify(logs)).not.toContain('hunter2')
  })

  test('the error handler answers it, by the schema for its own status', async () => {
    const server = serverOf()
    server.setErrorHandler((_req, res, _next, error) =>
      res.internalServerError({ code: (error as { code: string }).code, more: 1 }),
    )
    const code = { type: 'object', properties: { code: { type: 'string' } } } as const
    server.get('/', { responses: { 200: User, 500: code } }, () => ({}) as never)
    ;(await server.inject.get('/')).assertStatus(500).assertBodyDeepEqual({ code: 'ResponseMismatchError' })
  })
})

test("the framework's own responses keep their form", async () => {
  const server = serverOf()
  const error = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] } as const
  server.post('/', { body: { type: 'object' }, responses: { 400: error, 422: error, 415: error } }, () => 1)
  ;(await server.inject.post('/', { body: '{', headers: { 'content-type': 'application/json' } }))
    .assertStatus(400)
    .assertBodySubset({ code: 'JsonNotValidError' })
  ;(await server.inject.post('/', { body: [] })).assertStatus(422).assertBodySubset({ code: 'ValidationError' })
  ;(await server.inject.post('/', { body: 'x', headers: { 'content-type': 'text/plain' } }))
    .assertStatus(415)
    .assertBodySubset({ code: 'UnsupportedMediaTypeError' })
})

describe('the boot fails and names the route', () => {
  test.each<[string, unknown]>([
    ['an invalid schema', { 200: 'User' }],
    ['a key that is not a status', { ok: {} }],
    ['a status that does not exist', { 99: {} }],
    ['a type that does not exist', { 200: { type: 'objekt' } }],
    ['a reference to nothing', { 200: { $ref: '#/$defs/none' } }],
    ['a list', [{}]],
  ])('%s', async (_what, responses) => {
    const server = serverOf()
    server.get('/books', { responses: responses as {} }, () => 1)
    await expect(server.ready()).rejects.toThrow(/GET \/books/)
  })

  test('with everything that is wrong about its form', async () => {
    const server = serverOf()
    server.get('/books', { responses: { 200: {}, ok: {}, 99: {} } as {} }, () => 1)
    await expect(server.ready()).rejects.toThrow(
      /^GET \/books .*2 options are wrong:\n.*"responses\.99" is not a status of a response: .*\n.*"responses\.ok" is not a status/,
    )
  })
})

test('names in a schema never become code', async () => {
  const names = [
    '"',
    "'",
    '`',
    '\n',
    '\\',
    '\u2028',
    '*/',
    '"];throw 1;//',
    '$' + '{1}',
    '__proto__',
    'constructor',
    'toString',
    '',
  ]
  const value = Object.fromEntries(names.map((name) => [name, `is ${name}`]))
  Object.defineProperty(value, '__proto__', { value: 'is __proto__', enumerable: true })
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: 'string', format: name, const: `is ${name}` }]),
  )
  const { status, text } = await answer({ type: 'object', properties, required: names }, { ...value, other: 1 })
  expect(status).toBe(200)
  expect(Object.entries(JSON.parse(text) as object).sort()).toEqual(Object.entries(value).sort())
})
