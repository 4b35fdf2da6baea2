import { PolicyManager, RouteCollection, type RouteOptions, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Chance } from '../../support/chance.ts'
import { isLong } from '../../support/long.ts'
import { problemsOf } from '../../support/openapi.ts'
import { randomRoot } from '../../support/random-schemas.ts'

const verbs = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head', 'any'] as const
const segments = [
  'a',
  'b',
  'api',
  'v1',
  ':id',
  ':name',
  ':id?',
  ':x?',
  '{curly}',
  'a b',
  'ü',
  '%25',
  "q'",
  '"',
  '<b>',
  '$ref',
  '__proto__',
  'constructor',
  '\ud800',
  'a.b',
  '~1',
  'a,b;c=d',
]
const policies = new PolicyManager({ 'a b': { 'c/d': () => true, __proto: () => true }, a_b: { c_d: () => true } })
const shared = { type: 'object', properties: { shared: { type: 'string' } } } as const
const Zod = z.object({ id: z.int(), at: z.date().optional(), any: z.any(), list: z.array(z.string()).default([]) })
const silent = { '~standard': { version: 1, vendor: 'x"<y>', validate: (value: unknown) => ({ value }) } }

/** Values that should not be in an option, and will be. */
function junk(chance: Chance, depth = 3): unknown {
  const leaf = () =>
    chance.pick<unknown>([
      null,
      undefined,
      0,
      -1,
      Number.NaN,
      5n,
      '',
      'text',
      '$ref',
      true,
      Symbol('s'),
      () => 1,
      /x/,
      new Date(Number.NaN),
      new Map(),
    ])
  if (depth === 0 || chance.is(0.4)) return leaf()
  if (chance.is(0.3)) return Array.from({ length: chance.below(4) }, () => junk(chance, depth - 1))
  const value: { [name: string]: unknown } = {}
  const names = [
    '$ref',
    'schema',
    'content',
    'description',
    'headers',
    'type',
    'properties',
    'items',
    'name',
    'in',
    'required',
    '__proto__',
    'x-a',
    '200',
    'links',
    'allOf',
    '$id',
    'title',
    'a/b',
  ]
  for (const name of chance.some(names, 5)) {
    const one =
      name === '$ref'
        ? chance.pick(['#', '#/components/schemas/None', '#/components/responses/None', '#/%', 'http://a b', ''])
        : junk(chance, depth - 1)
    Object.defineProperty(value, name, {
      value: chance.is(0.05) ? value : one,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return value
}

function schema(chance: Chance): object {
  return chance.pick<() => object>([
    () => randomRoot(chance, { free: true }),
    () => ({
      ...randomRoot(chance, { free: true }),
      $id: chance.pick(['A', 'https://a.test/x y.json', 'urn:b', '#c', 'T0', '__proto__']),
    }),
    () => ({ ...randomRoot(chance, { free: true }), title: chance.pick(['A', 'Ä b', '', '<script>', 'constructor']) }),
    () => shared,
    () => Zod,
    () => Zod.meta({ id: chance.pick(['A', 'Zod', 'with space']) }),
    () => silent,
    () => junk(chance) as object,
  ])()
}

function options(chance: Chance): RouteOptions {
  const given: { [name: string]: unknown } = {}
  for (const part of ['query', 'headers', 'params', 'body', 'all']) if (chance.is(0.3)) given[part] = schema(chance)
  if (chance.is(0.5)) {
    given.responses = Object.fromEntries(
      chance.some([200, 201, 204, 304, 404, 500, 999, 'x'], 3).map((status) => [status, schema(chance)]),
    )
  }
  if (chance.is(0.2))
    given.policy = [
      { manager: policies, scope: 'a b', handler: 'c/d' },
      { manager: policies, scope: 'a_b', handler: 'c_d' },
    ]
  if (chance.is(0.2)) given.rateLimit = chance.pick([false, { statusCode: 503 }, true])
  if (chance.is(0.2)) given.upload = chance.pick([false, {}, { maxFiles: 1 }])
  if (chance.is(0.5)) {
    const members = [
      'summary',
      'description',
      'tags',
      'operationId',
      'deprecated',
      'parameters',
      'requestBody',
      'responses',
      'security',
      'servers',
      'externalDocs',
      'x-y',
      'callbacks',
    ]
    given.apidoc = chance.is(0.1)
      ? junk(chance)
      : Object.fromEntries(
          chance
            .some(members, 6)
            .map((name) => [name, chance.is(0.5) && name !== 'x-y' ? junk(chance) : sensible(chance, name)]),
        )
  }
  return given as RouteOptions
}

function sensible(chance: Chance, name: string): unknown {
  const known: { [name: string]: () => unknown } = {
    operationId: () => chance.pick(['get', 'a b', '', 'getA']),
    parameters: () => [
      {
        name: chance.pick(['id', 'q', '__proto__', 'Accept']),
        in: chance.pick(['path', 'query', 'header', 'cookie']),
        schema: schema(chance),
      },
    ],
    requestBody: () => ({ content: { [chance.pick(['text/plain', 'application/json'])]: { schema: schema(chance) } } }),
    responses: () => ({
      [chance.pick(['200', '2xx', 'default', '404'])]: chance.pick([
        schema(chance),
        { description: 'd', headers: { 'X-A': { schema: schema(chance) } } },
        { schema: schema(chance) },
      ]),
    }),
    security: () => [{ [chance.pick(['one', 'a b', '__proto__'])]: [] }],
    tags: () => ['x', '__proto__'],
  }
  return (known[name] ?? (() => 'text'))()
}

describe('whatever routes are given, the document is valid', () => {
  test.each(Array.from({ length: isLong ? 40 : 10 }, (_, seed) => [seed]))('application %i', async (seed) => {
    const chance = new Chance(seed * 7_919 + 3)
    const server = new Server({
      router: new RouteCollection(),
      plugins: { urlencoded: true, upload: true, rateLimit: chance.is(0.5) },
    })
    let routes = 0
    for (let i = 0; i < 60; i++) {
      const path = `/${[...chance.some(segments, 4), ...(chance.is(0.15) ? ['*'] : [])].join('/')}`
      try {
        server[chance.pick(verbs) as 'post'](path, options(chance) as {}, () => {})
        routes++
      } catch {
        // An existing path, or twice the same name in one.
      }
    }
    expect(routes).toBeGreaterThan(20)
    const document = describeServer(server)
    expect(await problemsOf(document)).toEqual([])
    expect(({} as { polluted?: unknown; shared?: unknown }).shared).toBeUndefined()
  })
})
