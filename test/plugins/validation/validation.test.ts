import { Type as LegacyType } from '@sinclair/typebox'
import { type } from 'arktype'
import { RouteCollection, type RouteOptions, Server } from 'framework'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkOf } from '../../../plugins/shared/schema/check.ts'
import { memoryLogger } from '../../support/kernel.ts'

function serverOf(): Server {
  return new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { urlencoded: true } })
}

/** One route that answers with the input of its handler. */
function echo(options: RouteOptions, path = '/', method: 'post' | 'get' = 'post'): Server {
  const server = serverOf()
  server[method as 'post'](path, options, (req) => ({
    body: req.body,
    query: req.query,
    params: req.params,
    x: req.headers['x-count'],
    validated: (req as { validated?: unknown }).validated,
  }))
  return server
}

interface Failure {
  code: string
  message: string
  errors: { part: string; path: string; keyword: string; message: string; params: object }[]
}
const failureOf = (response: { body(): unknown }) => response.body() as Failure

const kinds: Record<string, object> = {
  'JSON Schema': { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  'TypeBox 0.34': LegacyType.Object({ n: LegacyType.Integer() }),
  'TypeBox 1': Type.Object({ n: Type.Integer() }),
  'Zod 4': z.object({ n: z.int() }),
  'a Standard Schema': {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: { n?: unknown }) =>
        Number.isInteger(value.n) ? { value } : { issues: [{ message: 'must be integer', path: ['n'] }] },
    },
  },
}

describe.each(Object.entries(kinds))('a body described by %s', (_kind, body) => {
  test('reaches the handler when it is valid', async () => {
    const response = await echo({ body }).inject.post('/', { body: { n: 1 } })
    response.assertStatus(200).assertBodySubset({ body: { n: 1 } })
  })

  test('is refused with the part and the place when it is not', async () => {
    const response = await echo({ body }).inject.post('/', { body: { n: 'x' } })
    response.assertStatus(422)
    const { code, message, errors } = failureOf(response)
    expect([code, message]).toEqual(['ValidationError', 'validation failed'])
    expect(errors).toEqual([
      {
        part: 'body',
        path: '/n',
        keyword: expect.any(String),
        message: expect.any(String),
        params: expect.any(Object),
      },
    ])
  })
})

describe('coercion', () => {
  const text = {
    type: 'object',
    properties: { n: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
  }

  test('query, headers and params are coerced, single values to arrays too', async () => {
    const server = echo(
      {
        query: text,
        params: { type: 'object', properties: { id: { type: 'number' } } },
        headers: { type: 'object', properties: { 'X-Count': { type: 'integer' } }, required: ['X-Count'] },
      },
      '/:id',
    )
    const response = await server.inject.post('/7?n=5&tags=a', { headers: { 'x-count': '3' } })
    response.assertStatus(200)
    expect(response.body()).toEqual({ query: { n: 5, tags: ['a'] }, params: { id: 7 }, x: 3 })
  })

  test('bodies are not', async () => {
    const response = await echo({ body: text }).inject.post('/', { body: { n: '5' } })
    response.assertStatus(422)
  })

  test('defaults are filled in, and are new for each request', async () => {
    const server = serverOf()
    const body = { type: 'object', properties: { list: { type: 'array', default: [] } } } as const
    server.post('/', { body }, (req) => {
      const { list } = req.body as { list: unknown[] }
      list.push(1)
      return list
    })
    for (let i = 0; i < 3; i++) {
      const response = await server.inject.post('/', { body: {} })
      expect(response.body()).toEqual([1])
    }
  })

  test('additional properties are removed where the schema refuses them, and kept elsewhere', async () => {
    const closed = { type: 'object', properties: { a: {} }, additionalProperties: false }
    const one = await echo({ body: closed }).inject.post('/', { body: { a: 1, isAdmin: true } })
    one.assertBodyDeepEqual({ body: { a: 1 }, query: {}, params: {} })
    const two = await echo({ body: { type: 'object' } }).inject.post('/', { body: { a: 1, b: 2 } })
    two.assertBodySubset({ body: { a: 1, b: 2 } })
  })

  test('a closed schema of the headers keeps the others', async () => {
    const server = serverOf()
    const headers = { type: 'object', properties: { 'x-a': { type: 'integer' } }, additionalProperties: false }
    server.get('/', { headers }, (req) => [req.headers['x-a'], req.headers['x-b']])
    const response = await server.inject.get('/', { headers: { 'x-a': '1', 'x-b': 'b' } })
    expect(response.body()).toEqual([1, 'b'])
  })
})

describe('multipleOf', () => {
  test.each<[number, number[], number[]]>([
    [0.01, [0.07, 1.1, 19.99, 4.35, -0.29, 0, 1e15, 1e22], [0.075, 0.07000001, 1e-17, 5e-324, 19.9900001]],
    [0.1, [0.3, 0.7, 1e10 + 0.1], [0.25, 0.30001]],
    [1e-7, [3e-7, 0.0000123], [1.5e-7]],
    [0.5, [1e308, 1.5], [1.25]],
    [1, [1e22, -3], [0.5, 1.0000001]],
    [3, [9, 3e20], [10, 0.3]],
  ])('%d', (multipleOf, valid, invalid) => {
    const check = checkOf({ type: 'number', multipleOf }, 'body')
    expect(valid.filter((value) => !(check(value) as { ok: boolean }).ok)).toEqual([])
    expect(invalid.filter((value) => (check(value) as { ok: boolean }).ok)).toEqual([])
  })

  test('each price', () => {
    const check = checkOf({ multipleOf: 0.01 }, 'exact')
    const prices = Array.from({ length: 10_000 }, (_, cents) => cents / 100)
    expect(prices.filter((price) => !(check(price) as { ok: boolean }).ok)).toEqual([])
  })
})

describe('a branch that does not match changes nothing', () => {
  const kind = (name: string, more: object) => ({
    type: 'object',
    properties: { kind: { const: name }, ...more },
    required: ['kind'],
  })
  const Note = { ...kind('note', { text: { type: 'string' } }), additionalProperties: false }
  const Task = { ...kind('task', { due: { type: 'string' } }), additionalProperties: false, required: ['kind', 'due'] }
  const task = { kind: 'task', due: 'tomorrow' }
  const $defs = {
    Folder: kind('folder', {
      sort: { type: 'string', default: 'name' },
      items: { type: 'array', items: { $ref: '#' } },
    }),
    File: kind('file', { sort: { type: 'integer' } }),
  }
  const Tree = { $id: 'Tree', oneOf: [{ $ref: '#/$defs/Folder' }, { $ref: '#/$defs/File' }], $defs }

  test.each<[string, object, unknown, unknown?]>([
    ['anyOf', { anyOf: [Note, Task] }, task],
    ['oneOf', { oneOf: [Note, Task] }, task],
    ['within another', { anyOf: [{ anyOf: [Note, { not: Note, required: ['text'] }] }, Task] }, task],
    ['discriminator', { type: 'object', discriminator: { propertyName: 'kind' }, oneOf: [Note, Task] }, task],
    ['if', { type: 'object', if: Note, else: Task }, task],
    ['not', { type: 'object', not: Note }, task],
    ['contains', { type: 'array', contains: Note }, [task, { kind: 'note', text: '' }]],
    [
      'one after the branch that fits',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', anyOf: [{ type: 'object' }, Note] },
      { kind: 'note', due: '' },
    ],
    [
      'defaults',
      Tree,
      { kind: 'folder', items: [{ kind: 'file' }] },
      { kind: 'folder', sort: 'name', items: [{ kind: 'file' }] },
    ],
  ])('%s', (_what, schema, value, expected = value) => {
    expect(checkOf(schema, 'body')(structuredClone(value))).toEqual({ ok: true, value: expected })
  })

  const small = { type: 'integer', maximum: 5 }
  test.each<[string, object, unknown, unknown]>([
    ['a member', { anyOf: [small, { type: 'string' }] }, '007', '007'],
    ['the one that fits', { anyOf: [small, { type: 'string' }] }, '3', 3],
    ['oneOf', { oneOf: [small, { type: 'string', pattern: '^0' }] }, '007', '007'],
    ['an item', { type: 'array', items: { anyOf: [small, { type: 'string' }] } }, ['007', '3'], ['007', 3]],
    ['a list of one', { anyOf: [{ type: 'boolean' }, { type: 'array', minItems: 1 }] }, ['x'], ['x']],
    [
      'what looks like code',
      { anyOf: [small, { const: 'data.v = 1; delete data[v]' }] },
      'data.v = 1; delete data[v]',
      'data.v = 1; delete data[v]',
    ],
  ])('coercion of %s', (_what, v, given, expected) => {
    const schema = { type: 'object', properties: { v }, required: ['v'] }
    expect(checkOf(schema, 'text')({ v: given })).toEqual({ ok: true, value: { v: expected } })
  })
})

describe('a validator of its own', () => {
  test('replaces the part with its result', async () => {
    const body = z.object({
      at: z.coerce.date().transform((date) => date.getUTCFullYear()),
      extra: z.string().default('x'),
    })
    const response = await echo({ body }).inject.post('/', { body: { at: '2024-05-01', more: 1 } })
    response.assertBodySubset({ body: { at: 2024, extra: 'x' } })
    expect(response.body()).not.toHaveProperty('body.more')
  })

  test('may be asynchronous', async () => {
    const body = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') })
    const server = echo({ body })
    ;(await server.inject.post('/', { body: { name: 'free' } })).assertStatus(200)
    const refused = await server.inject.post('/', { body: { name: 'taken' } })
    expect(failureOf(refused).errors).toMatchObject([{ path: '/name', message: 'is taken' }])
  })

  test('may take no body', async () => {
    const server = echo({ body: z.object({ a: z.string() }).optional() })
    ;(await server.inject.post('/')).assertStatus(200)
  })
})

describe('all', () => {
  const all = {
    type: 'object',
    properties: {
      a: { type: 'integer' },
      b: { type: 'integer' },
      c: { type: 'string' },
      nested: { type: 'object', properties: { n: { type: 'integer' } } },
    },
    required: ['a'],
    additionalProperties: false,
  }

  test('takes known headers, the query over them, the body over both; the parts stay', async () => {
    const response = await echo({ all }).inject.post('/?a=1&b=2', {
      headers: { a: '0', b: '0', c: 'header' },
      body: { a: 3, nested: { n: '4' } },
    })
    response.assertStatus(200)
    expect(response.body()).toMatchObject({
      validated: { a: 3, b: 2, c: 'header', nested: { n: 4 } },
      query: { a: '1', b: '2' },
      body: { a: 3, nested: { n: '4' } },
    })
  })

  test('a schema that shows its keys receives no other header, one that does not gets all', async () => {
    const strict = await echo({ all: z.strictObject({ a: z.coerce.number() }) }).inject.post('/?a=1', {
      headers: { 'x-b': '1' },
    })
    strict.assertStatus(200).assertBodySubset({ validated: { a: 1 } })
    const opaque = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } }
    const open = await echo({ all: opaque }).inject.post('/?a=1', { headers: { 'x-b': '1' } })
    open.assertBodySubset({ validated: { a: '1', 'x-b': '1' } })
  })

  test('a body that is not an object is refused', async () => {
    const response = await echo({ all }).inject.post('/?a=1', { body: [1] })
    response.assertStatus(422)
    expect(failureOf(response).errors).toMatchObject([{ part: 'all', path: '' }])
  })
})

describe('failures', () => {
  test('of a validator that gives its paths as text and its rules as VineJS does are rows as well', async () => {
    const issues = [{ message: 'is required', rule: 'required', field: 'items.0.name', path: 'items.0.name' }]
    const vine = { '~standard': { version: 1, vendor: 'vinejs', validate: async () => ({ issues }) } } as const
    const response = await echo({ body: vine }).inject.post('/', { body: {} })
    response.assertStatus(422)
    expect(failureOf(response).errors).toEqual([
      { part: 'body', path: '/items/0/name', keyword: 'required', message: 'is required', params: {} },
    ])
  })

  const number = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] })

  test('of all parts are reported, in the order headers, params, query, body, all', async () => {
    const server = echo(
      { all: number('x'), body: number('n'), query: number('n'), params: number('id'), headers: number('x-n') },
      '/:id',
    )
    const response = await server.inject.post('/a?n=b', { body: { n: 'c', x: 'd' } })
    const { errors } = failureOf(response)
    expect(errors.map(({ part, path }) => `${part} ${path}`)).toEqual([
      'headers /x-n',
      'params /id',
      'query /n',
      'body /n',
      'all /x',
    ])
  })

  const seats = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] }
  const withItems = (item: object) => ({
    type: 'object',
    properties: { ...seats.properties, items: { type: 'array', items: item } },
    required: ['seats', 'items'],
  })
  const orders: Record<string, object> = {
    'JSON Schema': withItems(seats),
    'JSON Schema with a reference': { ...withItems({ $ref: '#/$defs/seats' }), $defs: { seats } },
    'TypeBox 0.34': LegacyType.Object({
      seats: LegacyType.Integer(),
      items: LegacyType.Array(LegacyType.Object({ seats: LegacyType.Integer() })),
    }),
    'TypeBox 1': Type.Object({
      seats: Type.Integer(),
      items: Type.Array(Type.Object({ seats: Type.Integer() })),
    }),
    'Zod 4': z.object({ seats: z.int(), items: z.array(z.object({ seats: z.int() })) }),
    Valibot: v.object({ seats: v.number(), items: v.array(v.object({ seats: v.number() })) }),
    ArkType: type({ seats: 'number', items: type({ seats: 'number' }).array() }),
  }
  test.each(Object.entries(orders))('of a missing member have its path: %s', async (_what, body) => {
    const response = await echo({ body }).inject.post('/', { body: { items: [{}] } })
    const paths = failureOf(response).errors.map(({ path }) => path)
    expect(paths.sort()).toEqual(['/items/0/seats', '/seats'])
  })

  test.each<[string, object, object, string[]]>([
    [
      'unevaluatedProperties',
      { type: 'object', properties: { a: { type: 'object', unevaluatedProperties: false } } },
      { a: { 'b/c': 1 } },
      ['/a/b~1c'],
    ],
    ['dependentRequired', { type: 'object', dependentRequired: { card: ['address'] } }, { card: 1 }, ['/address']],
    ['a strict object of Zod', z.object({ a: z.strictObject({}) }), { a: { b: 1, c: 2 } }, ['/a/b', '/a/c']],
    ['a strict object of Valibot', v.object({ a: v.strictObject({}) }), { a: { b: 1 } }, ['/a/b']],
  ])('of a member have its path: %s', async (_what, schema, body, paths) => {
    const response = await echo({ body: schema }).inject.post('/', { body })
    expect(failureOf(response).errors.map(({ path }) => path)).toEqual(paths)
  })

  test('of an unknown member have its path where unknown members are refused', () => {
    const schema = { type: 'object', additionalProperties: false, properties: { a: { additionalProperties: false } } }
    expect(checkOf(schema, 'exact')({ b: 1, a: { c: 1 } })).toMatchObject({
      ok: false,
      issues: [{ path: '/b', keyword: 'additionalProperties' }, { path: '/a/c' }],
    })
  })

  test('no body where one is described is 422', async () => {
    const response = await echo({ body: number('n') }).inject.post('/')
    response.assertStatus(422)
    expect(failureOf(response).errors).toMatchObject([{ part: 'body', path: '', keyword: 'required' }])
  })

  test('a body that no parser takes is 415 with body or all, and nothing without', async () => {
    const sent = { body: '<a/>', headers: { 'content-type': 'text/xml' } }
    for (const options of [{ body: {} }, { all: {} }]) {
      const response = await echo(options).inject.post('/', sent)
      response.assertStatus(415).assertBodySubset({ code: 'UnsupportedMediaTypeError' })
    }
    ;(await echo({}).inject.post('/', sent)).assertStatus(200)
  })
})

test.each([
  [{ type: 'object', proprties: {} }, '"proprties" is not a keyword of JSON Schema; did you mean "properties"?'],
  [{ name: 'string' }, '"name" is not a keyword of JSON Schema. It takes a JSON Schema'],
  [{ errorMessage: 'Please' }, '"errorMessage" is a keyword of ajv-errors: use setValidationErrorHandler({ message })'],
])('a keyword that JSON Schema does not have fails the boot: %j', async (body, message) => {
  await expect(echo({ body }).ready()).rejects.toThrow(message)
})

describe('setValidationErrorHandler', () => {
  const body = { type: 'object', required: ['n'] }

  test('as a function it responds, with the list and the errors of the validator', async () => {
    const server = echo({ body })
    server.setValidationErrorHandler((req, res, error) => {
      expect(error.cause).toMatchObject([{ keyword: 'required', schemaPath: expect.any(String) }])
      return res.badRequest({ path: req.path, errors: error.errors, code: error.code })
    })
    const response = await server.inject.post('/', { body: {} })
    response.assertStatus(400).assertBodySubset({ path: '/', code: 'ValidationError', errors: [{ part: 'body' }] })
  })

  test('a value that it returns is the body of a 422, no response at all gives the default', async () => {
    const server = echo({ body })
    server.setValidationErrorHandler(async () => ({ mine: true }))
    ;(await server.inject.post('/', { body: {} })).assertStatus(422).assertBodyDeepEqual({ mine: true })
    server.setValidationErrorHandler(() => {})
    ;(await server.inject.post('/', { body: {} })).assertStatus(422).assertBodySubset({ code: 'ValidationError' })
  })

  test('a file is the response, also where the handler does not wait for it', async () => {
    const server = echo({ body })
    for (const [path, status] of [
      [import.meta.filename, 422],
      [`${import.meta.filename}.gone`, 404],
    ] as const) {
      server.setValidationErrorHandler((_req, res) => void res.file(path))
      expect((await server.inject.post('/', { body: {} })).assertStatus(status).text()).toContain(
        status === 422 ? 'import' : 'FileNotFoundError',
      )
      server.setValidationErrorHandler(async (_req, res) => void res.file(path))
      ;(await server.inject.post('/', { body: {} })).assertStatus(status)
    }
  })

  test('as options it maps', async () => {
    const server = echo({ body })
    server.setValidationErrorHandler({ status: 400, map: (error, req) => [error.errors.length, req.method] })
    ;(await server.inject.post('/', { body: {} })).assertStatus(400).assertBodyDeepEqual([1, 'POST'])
    expect(() => server.setValidationErrorHandler({ status: 200 })).toThrow(/400 to 599/)
    expect(() => server.setValidationErrorHandler({ statsu: 400 } as never)).toThrow(
      'Unknown option "setValidationErrorHandler.statsu". Did you mean "status"?',
    )
    expect(() => server.setValidationErrorHandler(5 as never)).toThrow(/setValidationErrorHandler/)
  })

  test('holds for its server alone', async () => {
    const [one, two] = [echo({ body }), echo({ body })]
    one.setValidationErrorHandler({ status: 400 })
    ;(await one.inject.post('/', { body: {} })).assertStatus(400).assertBodySubset({ code: 'ValidationError' })
    ;(await two.inject.post('/', { body: {} })).assertStatus(422)
  })

  test('one that throws is a 500 without a body', async () => {
    const server = echo({ body })
    server.setValidationErrorHandler(() => {
      throw new Error('no')
    })
    const response = await server.inject.post('/', { body: {} })
    response.assertStatus(500)
    expect(response.text()).toBe('')
  })

  test('the error handler does not see these failures', async () => {
    const server = echo({ body })
    server.setErrorHandler((_req, res) => res.status(599).send())
    ;(await server.inject.post('/', { body: {} })).assertStatus(422)
  })
})

describe('the boot fails and names the route', () => {
  const boot = (options: RouteOptions, method: 'get' | 'post' = 'post') => echo(options, '/books', method).ready()

  test.each(['body', 'all'])('%s on GET', async (part) => {
    await expect(boot({ [part]: {} }, 'get')).rejects.toThrow(/GET \/books.*no body/)
  })

  test.each([
    ['a type that does not exist', { type: 'objekt' }],
    ['a misspelt keyword', { type: 'object', propertys: {} }],
    ['an unknown format', { type: 'string', format: 'isbn' }],
    ['a reference to nothing', { $ref: '#/definitions/none' }],
    ['an asynchronous schema', { $async: true, type: 'object' }],
    ['an array', []],
    ['text', 'object'],
  ])('%s', async (_what, body) => {
    await expect(boot({ body: body as object })).rejects.toThrow(/POST \/books/)
  })

  test('with every part that is not a schema', async () => {
    await expect(boot({ body: 'object' as never, query: null as never })).rejects.toThrow(
      /^POST \/books .*2 options are wrong:\n- the option "body" is a string.*\n- the option "query" is null; it takes a JSON Schema/,
    )
  })

  test('schemas that share an $id and differ: both routes', async () => {
    const server = serverOf()
    server.post('/a', { body: { $id: 'thing', type: 'object' } }, () => 1)
    server.post('/b', { body: { $id: 'thing', type: 'array' } }, () => 1)
    await expect(server.ready()).rejects.toThrow(/POST \/a.*POST \/b.*thing/)
  })

  test('but not schemas that are the same', async () => {
    const server = serverOf()
    server.post('/a', { body: { $id: 'same', type: 'object' } }, () => 1)
    server.post('/b', { body: { $id: 'same', type: 'object' }, query: { $id: 'same', type: 'object' } }, () => 1)
    await server.ready()
  })
})

test('validation runs after the middlewares of the route', async () => {
  const server = serverOf()
  const seen: string[] = []
  const middlewares = [
    function first(_req: unknown, _res: unknown, next: () => unknown) {
      seen.push('first')
      return next()
    },
  ]
  server.post('/', { body: { type: 'object' }, middlewares }, () => 1)
  await server.inject.post('/', { body: [] })
  expect(seen).toEqual(['first'])
  expect(
    server
      .explain('POST', '/')
      .steps.map(({ name }) => name)
      .slice(-3),
  ).toEqual(['first', 'validation', expect.anything()])
})

describe('a query of lists', () => {
  const tags = z.array(z.string())
  const query = z.object({
    tag: tags,
    more: tags.nullish(),
    word: z.string().optional(),
    made: tags.or(z.string()).optional(),
  })

  test('reaches a validator of its own as lists, however often a member is given', async () => {
    const server = echo({ query }, '/', 'get')
    const ask = async (text: string) => (await server.inject.get(`/?${text}`)).body()
    expect(await ask('tag=a')).toMatchObject({ query: { tag: ['a'] } })
    expect(await ask('tag=a&tag=b&more=c&word=w&made=m')).toMatchObject({
      query: { tag: ['a', 'b'], more: ['c'], word: 'w', made: 'm' },
    })
    expect(await ask('word=w')).toMatchObject({ code: 'ValidationError', errors: [{ path: '/tag' }] })
    expect(await ask('tag=a&word=v&word=w')).toMatchObject({ errors: [{ path: '/word' }] })
  })

  test('in an "all" schema it does, and the body stays as it is', async () => {
    const all = z.object({ tag: tags, names: tags.optional() })
    const server = echo({ all })
    const validated = async (body: object) => (await server.inject.post('/?tag=a', { body })).body()
    expect(await validated({ names: ['n'] })).toMatchObject({ validated: { tag: ['a'], names: ['n'] } })
    expect(await validated({ names: 'n' })).toMatchObject({ errors: [{ path: '/names' }] })
  })

  test('a schema that cannot be said in JSON Schema is left alone', async () => {
    const server = echo({ query: z.object({ at: z.coerce.date(), of: z.custom<string>() }) }, '/', 'get')
    expect((await server.inject.get('/?at=2026-01-01&of=x')).body()).toMatchObject({ query: { of: 'x' } })
  })
})
