import { RouteCollection, Server } from 'framework'
import { responses } from 'framework/plugins/responses'
import { Type } from 'typebox'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'

function serviceOf() {
  const plugins = { responses: responses() }
  return new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins }).services.get('responses')
}

const route = 'GET /users'
const User = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  required: ['id'],
}

describe('a list of scalars', () => {
  const schema = { type: 'array', items: { type: ['string', 'null'] } }
  const write = serviceOf().compile({ 200: { type: 'array', items: { type: 'string' } }, 201: schema }, { route })

  test('is sent with its items converted, wherever the first of them is, and stays as it was', () => {
    const at = new Date('2026-01-02T03:04:05Z')
    for (const list of [
      [at, 'b', 'c'],
      ['a', at, 'c', at],
      ['a', 'b', at],
    ]) {
      const before = [...list]
      const sent = list.map((one) => (one === at ? at.toISOString() : one))
      expect(JSON.parse(write(list, 200))).toEqual(sent)
      expect(JSON.parse(write([null, ...list], 201))).toEqual([null, ...sent])
      expect(list).toEqual(before)
    }
  })

  test('with one wrong item is refused, whatever is before it', () => {
    expect(() => write(['a', 7], 200)).toThrow('1 must be a string')
    expect(() => write(['a', new Date(0), 7], 200)).toThrow('2 must be a string')
    expect(() => write(Object.assign(['a'], { length: 2 }), 200)).toThrow('must be a string')
  })
})

describe('the nearest schema is taken', () => {
  const named = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } } })
  const schemas = { 200: named('exact'), '2xx': named('success'), '4XX': named('client'), default: named('other') }
  const write = serviceOf().compile(schemas, { route })
  const payload = { exact: 1, success: 2, client: 3, other: 4, secret: 5 }

  test.each([
    [200, 'exact'],
    [201, 'success'],
    [404, 'client'],
    [500, 'other'],
    [302, 'other'],
  ])('for %i', (status, name) => {
    expect(JSON.parse(write(payload, status))).toEqual({ [name]: payload[name as 'exact'] })
  })

  test('and a response without one is plain JSON', () => {
    expect(serviceOf().compile({ 200: User }, { route })({ any: 1 }, 201)).toBe('{"any":1}')
  })

  test('a key that is not a status is an error that names the route', () => {
    for (const key of ['ok', '2x', '99', '600', '200.5', '6xx', '']) {
      expect(() => serviceOf().compile({ [key]: User }, { route })).toThrow(
        new RegExp(`responses\\[${key}\\] of GET /users`),
      )
    }
    expect(() => serviceOf().compile({ 200: 'User' as never }, { route })).toThrow(/a schema is an object/)
    expect(() => serviceOf().compile({ 200: { type: 'objekt' } }, { route })).toThrow(/there is no type "objekt"/)
  })
})

test('an $id that means another schema elsewhere is an error', async () => {
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  server.get('/', { responses: { 200: { $id: 'thing', type: 'string' } } }, () => 'a')
  await server.ready()
  expect(() => server.services.get('responses').compile({ 200: { $id: 'thing', type: 'number' } }, { route })).toThrow(
    /share the \$id "thing"/,
  )
})

test('without onMismatch a mismatch throws', () => {
  expect(() => serviceOf().compile({ 200: User }, { route })({ id: '1' }, 200)).toThrow(
    expect.objectContaining({ code: 'ResponseMismatchError', status: 500 }),
  )
})

describe('lenient', () => {
  /** The response for a value, and the reported mismatches. */
  function lenient(schema: object, value: unknown) {
    const onMismatch = vi.fn<(error: Error) => void>()
    const text = serviceOf().compile({ 200: schema }, { route, onMismatch })(value, 200)
    return { sent: JSON.parse(text) as unknown, reports: onMismatch.mock.calls.map(([error]) => error.message) }
  }
  const string = { type: 'string' }
  const secret = 'hunter2'
  const hidden = { secret, toString: secret }
  const cyclic: Record<string, unknown> = { a: 1 }
  cyclic.self = cyclic

  test('a matching answer is not reported', () => {
    expect(lenient(User, { id: 1, secret })).toEqual({ sent: { id: 1 }, reports: [] })
  })

  test('a mismatch is reported once, with route, status and place and without the value', () => {
    const { sent, reports } = lenient(User, { id: '1', name: 5, address: { city: 1, secret }, secret })
    expect(sent).toEqual({ id: '1', name: 5, address: { city: 1 } })
    expect(reports).toEqual([
      'the response 200 of GET /users does not match its schema: /id must be a whole number. Only the members that match the schema were sent',
    ])
  })

  test.each<[string, object, unknown, unknown]>([
    ['a missing member', User, { name: 'ada', secret }, { name: 'ada' }],
    ['null for a member', User, { id: null, name: null, secret }, { id: null, name: null }],
    ['an object for a scalar', User, { id: hidden, name: [hidden] }, {}],
    ['an array for an object', User, { id: '1', address: [hidden] }, { id: '1' }],
    ['an object for an array', { type: 'array', items: string }, { 0: secret }, undefined],
    ['a scalar for an object', User, { id: 1, address: 'London' }, { id: 1, address: 'London' }],
    ['what JSON has no form for', User, { id: Number.NaN, name: 5n, address: () => 1 }, {}],
    ['items of the wrong type', { type: 'array', items: string }, [1, hidden, 'a'], [1, null, 'a']],
    [
      'members of items',
      { type: 'array', items: User },
      [{ id: 'x', secret }, hidden, secret],
      [{ id: 'x' }, {}, secret],
    ],
    ['more than a tuple has', { type: 'array', prefixItems: [string], items: false }, [1, hidden], [1]],
    ['a value that is not listed', { properties: { a: { enum: ['x'] } } }, { a: 'y' }, { a: 'y' }],
    ['an object that is not listed', { properties: { a: { enum: ['x', {}] } } }, { a: hidden }, {}],
    ['what false refuses', { properties: { a: false, b: string } }, { a: secret, b: 1 }, { b: 1 }],
    [
      'additional members by their schema',
      { properties: { id: string }, additionalProperties: { properties: { a: string } } },
      { id: 1, x: { a: 1, secret }, y: [hidden] },
      { id: 1, x: { a: 1 } },
    ],
    [
      'patterns',
      { properties: { id: string }, patternProperties: { '^x-': { properties: { a: string } } } },
      { id: 1, 'x-1': { a: 1, secret }, y: hidden },
      { id: 1, 'x-1': { a: 1 } },
    ],
    ['the one schema that can be meant', { anyOf: [User, { type: 'null' }] }, { id: 'x', secret }, { id: 'x' }],
    [
      'nothing where two can be meant',
      {
        properties: {
          a: { anyOf: [{ properties: { k: { const: 1 }, secret: string } }, { properties: { k: { const: 2 } } }] },
        },
      },
      { a: { k: 3, secret } },
      {},
    ],
    [
      'both of allOf',
      { allOf: [{ properties: { a: string } }, { properties: { b: string } }] },
      { a: 1, b: 2, secret },
      { a: 1, b: 2 },
    ],
    [
      'references',
      { properties: { a: { $ref: '#/$defs/user' } }, $defs: { user: User } },
      { a: { id: 'x', secret } },
      { a: { id: 'x' } },
    ],
    [
      'if and else',
      {
        properties: { k: string, n: { type: 'integer' } },
        if: { properties: { k: { const: 'a' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { a: string } },
        else: { properties: { b: string } },
      },
      { k: 'b', n: 'x', a: secret, b: 1 },
      { k: 'b', n: 'x', b: 1 },
    ],
    ['a default', { properties: { a: { type: 'string', default: 'x' }, b: string } }, { b: 1 }, { a: 'x', b: 1 }],
    [
      'a date',
      { properties: { a: string, b: string } },
      { a: new Date(0), b: 1 },
      { a: '1970-01-01T00:00:00.000Z', b: 1 },
    ],
    ['toJSON', User, { toJSON: () => ({ id: 'x', secret }) }, { id: 'x' }],
    [
      'members of a class',
      z.object({ a: z.string(), n: z.int() }),
      new (class {
        n = 'x'
        get a() {
          return 'a'
        }
      })(),
      { a: 'a' },
    ],
    ['TypeBox', Type.Object({ id: Type.Integer() }), { id: 'x', secret }, { id: 'x' }],
    [
      'Zod: what its members let through',
      z.object({
        id: z.int(),
        mask: z.string().transform(() => '***'),
        in: z.object({ a: z.string(), b: z.string() }).optional(),
      }),
      { id: 'x', mask: secret, secret, in: { a: 'a', b: 1, secret } },
      { mask: '***', in: { a: 'a' } },
    ],
    ['Zod: items', z.array(z.object({ id: z.int(), n: z.int() })), [{ id: 1, n: 'x', secret }, 5], [{ id: 1 }, null]],
  ])('%s', (_what, schema, value, expected) => {
    if (expected === undefined) {
      expect(() => lenient(schema, value)).toThrow(/It was not sent/)
      return
    }
    const { sent, reports } = lenient(schema, value)
    expect(sent).toEqual(expected)
    expect(reports).toHaveLength(1)
  })

  test('members of prototypes do not leave as own ones', () => {
    const schema = { properties: { a: string, constructor: {}, __proto__: {}, toString: {} } }
    expect(lenient(schema, { a: 1 }).sent).toEqual({ a: 1 })
  })

  test.each<[string, object, unknown]>([
    ['an object where only a scalar may be', string, hidden],
    ['a list where only an object may be', User, [hidden]],
    ['what Zod refuses as a whole', z.string(), 5],
    ['a cycle', { properties: { a: string, self: { $ref: '#' } } }, cyclic],
  ])('a response of which nothing may be sent throws, and is not reported: %s', (_what, schema, value) => {
    const onMismatch = vi.fn()
    const write = serviceOf().compile({ 200: schema }, { route, onMismatch })
    expect(() => write(value, 200)).toThrow(expect.objectContaining({ code: 'ResponseMismatchError' }))
    expect(onMismatch).not.toHaveBeenCalled()
  })
})
