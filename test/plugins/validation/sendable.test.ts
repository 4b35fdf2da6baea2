import { Type as OldType } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { RouteCollection, Server } from 'framework'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { z as zod40 } from 'zod-4.0'

type Part = 'query' | 'headers' | 'params' | 'body' | 'all'

/** The error of a boot with one schema, `boots` without one. */
async function bootOf(part: Part, schema: object): Promise<string> {
  const server = new Server({ router: new RouteCollection(), plugins: { log: false } })
  if (part === 'body' || part === 'all') server.post('/books/:a', { [part]: schema } as object, () => {})
  else server.get('/books/:a', { [part]: schema } as object, () => {})
  const failed = await server.ready().catch((error: Error) => error.cause as Error & { code: string })
  await server.close()
  if (!(failed instanceof Error)) return 'boots'
  expect(failed.code).toBe('SchemaMemberError')
  return failed.message.replace(/^/, '')
}

const json = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const object = { type: 'object', properties: { b: { type: 'string' } } } as const
const date = 'Use z.coerce.date(), or z.iso.datetime() for the text as it is'
const toMembers = 'Use separate members, a string that the schema parses, or the body'

describe('a member that cannot be sent fails the boot', () => {
  test.each<[string, Part, object, string]>([
    ['an object', 'query', json({ a: object }), `it is an object, and a query holds text. ${toMembers}`],
    ['a required object', 'query', json({ a: object }, { required: ['a'] }), 'it is an object'],
    ['after a reference', 'query', json({ a: { $ref: '#/$defs/A' } }, { $defs: { A: object } }), 'it is an object'],
    ['in a combination', 'query', { allOf: [json({}), json({ a: object })] }, 'it is an object'],
    ['in every branch', 'query', json({ a: { anyOf: [object, { type: 'object' }] } }), 'it is an object'],
    ['an object that is the only value', 'query', json({ a: { const: { b: 1 } } }), 'it is an object'],
    [
      'a list of objects',
      'query',
      json({ a: { type: 'array', items: object } }),
      'it is a list whose item is an object',
    ],
    ['in a header', 'headers', json({ a: object }), 'it is an object, and headers hold text'],
    ['in the path', 'params', json({ a: object }), 'it is an object, and a path holds text'],
    ['of TypeBox', 'query', Type.Object({ a: Type.Optional(Type.Object({})) }), 'it is an object'],
    ['of the older TypeBox', 'query', OldType.Object({ a: OldType.Object({}) }), 'it is an object'],
    ['of Zod', 'query', z.object({ a: z.object({ b: z.string() }).optional() }), 'it is an object'],
    ['of Zod 4.0', 'query', zod40.object({ a: zod40.object({}) }), 'it is an object'],
    ['of Zod, mini', 'query', mini.object({ a: mini.optional(mini.object({})) }), 'it is an object'],
    ['a record', 'query', z.object({ a: z.record(z.string(), z.string()) }), 'it is an object'],
    [
      'after all wrappers of Zod',
      'query',
      z.object({ a: z.lazy(() => z.object({}).nullable().default(null).readonly()) }),
      'it is an object',
    ],
    [
      'a number of Zod',
      'query',
      z.object({ a: z.number().default(1) }),
      'it is a number, and a query holds text. Use z.coerce.number()',
    ],
    [
      'whole numbers of Zod',
      'params',
      z.object({ a: z.int() }),
      'it is a number, and a path holds text. Use z.coerce.number()',
    ],
    [
      'a boolean of Zod',
      'query',
      z.object({ a: z.boolean() }),
      'it is a boolean, and a query holds text. Use z.stringbool()',
    ],
    ['a list of numbers of Zod', 'query', z.object({ a: z.array(z.number()) }), 'it is a list whose item is a number'],
    ['a literal that is not text', 'query', z.object({ a: z.literal([1, 2]) }), 'it is a number'],
    ['of Valibot', 'query', toStandardJsonSchema(v.object({ a: v.optional(v.object({})) })), 'it is an object'],
    [
      'a number of Valibot',
      'query',
      toStandardJsonSchema(v.object({ a: v.number() })),
      'it is a number, and a query holds text. Use v.pipe(v.string(), v.transform(Number)) with v.number() after it',
    ],
    ['of Valibot, wrapped', 'query', toStandardJsonSchema(v.object({ a: v.object({}) })), 'it is an object'],
    ['of ArkType', 'query', type({ a: { b: 'string' } }), 'it is an object'],
  ])('%s', async (_what, part, schema, why) => {
    const said = await bootOf(part, schema)
    const method = 'GET'
    expect(said).toContain(`the member "a" of the schema "${part}" of ${method} /books/:a can never be sent: ${why}`)
  })

  test.each<[string, object, string]>([
    ['a date', z.object({ a: z.date() }), `it is a date, which JSON cannot represent. ${date}`],
    ['of Zod 4.0', zod40.object({ a: zod40.date() }), `it is a date, which JSON cannot represent. ${date}`],
    ['of Zod, mini', mini.object({ a: mini.date() }), `it is a date, which JSON cannot represent. ${date}`],
    ['a date that is transformed', z.object({ a: z.date().transform(String) }), 'it is a date'],
    ['a date that may not be left out after all', z.object({ a: z.nonoptional(z.date().optional()) }), 'it is a date'],
    ['a bigint', z.object({ a: z.bigint() }), 'it is a bigint, which JSON cannot represent. Use z.coerce.bigint()'],
    [
      'a Map',
      z.object({ a: z.map(z.string(), z.string()) }),
      'it is a Map, which JSON cannot represent. Use z.record()',
    ],
    ['a Set', z.object({ a: z.set(z.string()) }), 'it is a Set, which JSON cannot represent. Use z.array()'],
    ['a file', z.object({ a: z.file() }), 'Use the route option "upload", whose files are at req.files'],
    ['in every branch', z.object({ a: z.union([z.date(), z.bigint()]) }), 'it is a date'],
    [
      'in one of two that hold both',
      z.intersection(z.object({ b: z.string() }), z.object({ a: z.date() })),
      'it is a date',
    ],
    [
      'of Valibot',
      toStandardJsonSchema(v.object({ a: v.date() })),
      'Use v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))',
    ],
    [
      'of ArkType',
      type({ a: 'Date' }),
      'it is a date, which JSON cannot represent. Use a type that is parsed from a string',
    ],
    [
      'of the older TypeBox',
      OldType.Object({ a: OldType.Date() }),
      'its type "Date" is not a type of JSON. Use { type: "string", format: "date-time" }',
    ],
    [
      'of TypeBox, which is optional',
      Type.Object({ a: Type.Optional(Type.BigInt()) }),
      'its type "bigint" is not a type of JSON. Use "string", "number", "integer", "boolean", "object", "array" or "null"',
    ],
  ])('in a body: %s', async (_what, schema, why) => {
    const said = await bootOf('body', schema)
    expect(said).toContain('the member "a" of the schema "body" of POST /books/:a can never be sent: ')
    expect(said).toContain(why)
  })

  test('its place is reported, also in nested parts', async () => {
    const deep = z.object({ owner: z.object({ pets: z.tuple([z.string(), z.object({ born: z.date() })]) }) })
    expect(await bootOf('body', deep)).toContain('the member "owner.pets.1.born" of the schema "body"')
    expect(await bootOf('body', z.date())).toMatch(
      /^the schema "body" of POST \/books\/:a can never be sent: it is a date/,
    )
    expect(await bootOf('all', z.object({ a: z.date() }))).toContain(
      'it is a date, which neither text nor JSON can represent',
    )
  })
})

interface Node {
  left?: Node | undefined
  right: Node | null
  name: string
}
const Tree: z.ZodType<Node> = z.lazy(() =>
  z.object({ left: Tree.optional(), right: z.union([Tree, z.null(), z.lazy(() => Tree)]), name: z.string() }),
)
const Filter = {
  $defs: { F: json({ f: { $ref: '#/$defs/F' } }) },
  ...json({ a: { anyOf: [{ $ref: '#/$defs/F' }, { type: 'string' }] } }),
}

describe('schemas that can be sent boot', () => {
  test.each<[string, Part, object]>([
    [
      'text, numbers, booleans, null and lists of JSON Schema',
      'query',
      json({
        a: { type: 'integer' },
        b: { type: 'boolean' },
        c: { type: 'null' },
        d: { type: 'array', items: { type: 'number' } },
        e: { type: 'string', format: 'date-time' },
      }),
    ],
    [
      'an object or text',
      'query',
      json({ a: { anyOf: [object, { type: 'string' }] }, b: { type: ['object', 'string'] } }),
    ],
    [
      'an object or null, which is the empty text',
      'query',
      json({ a: { type: ['object', 'null'] }, b: { ...object, nullable: true } }),
    ],
    ['a schema that says no type', 'query', json({ a: { properties: { b: {} } }, b: {}, c: true })],
    ['values of which one is text', 'query', json({ a: { enum: [{ b: 1 }, 'text'] }, b: { const: 5 } })],
    ['a reference that leads to itself', 'query', Filter],
    ['a query of one of several forms', 'query', { oneOf: [json({ a: object }), json({ a: { type: 'string' } })] }],
    [
      'coerced types of Zod',
      'query',
      z.object({
        a: z.coerce.number(),
        b: z.coerce.date(),
        c: z.coerce.boolean(),
        d: z.coerce.bigint(),
        e: z.stringbool(),
      }),
    ],
    [
      'what Zod parses from text',
      'query',
      z.object({
        a: z.string().transform((text) => JSON.parse(text)),
        b: z.preprocess((text) => JSON.parse(String(text)), z.object({ c: z.number() })),
        c: z.string().pipe(z.coerce.date()),
        d: z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (at) => at.toISOString() }),
      }),
    ],
    [
      'text of every form',
      'query',
      z.object({
        a: z.email(),
        b: z.enum(['x', 'y']),
        c: z.literal(['x', 1]),
        d: z.templateLiteral(['a-', z.number()]),
        e: z.iso.date(),
        f: z.array(z.uuid()),
        g: z.url().nullish(),
      }),
    ],
    [
      'what only its own function knows',
      'query',
      z.object({
        a: z.any(),
        b: z.unknown(),
        c: z.custom<object>(),
        d: z.instanceof(Date),
        e: z.number().catch(1),
        f: z.json(),
      }),
    ],
    [
      'a union with one branch of text',
      'query',
      z.object({
        a: z.union([z.object({}), z.string()]),
        b: z.number().or(z.string()),
        c: z.tuple([z.string(), z.string()]),
      }),
    ],
    ['a query of any names', 'query', z.record(z.string(), z.string())],
    [
      'what Valibot parses from text',
      'query',
      toStandardJsonSchema(
        v.object({
          a: v.pipe(v.string(), v.transform(Number), v.number()),
          b: v.fallback(v.number(), 1),
          c: v.optional(v.picklist(['x'])),
          d: v.array(v.string()),
          e: v.union([v.object({}), v.string()]),
          g: v.instance(Date),
        }),
      ),
    ],
    [
      'what ArkType parses from text',
      'query',
      type({ a: 'string.numeric.parse', 'b?': 'string.date.parse', c: 'string[]' }),
    ],
    [
      'coerced and parsed dates',
      'body',
      z.object({
        a: z.coerce.date(),
        b: z.iso.datetime(),
        c: z.preprocess((text) => new Date(String(text)), z.date()),
        d: z.string().transform((text) => new Date(text)),
        e: z.string().pipe(z.coerce.date()),
        f: z.string().or(z.date()),
      }),
    ],
    [
      'a date that may be left out, or be null',
      'body',
      z.object({
        a: z.date().optional(),
        b: z.date().nullable(),
        c: z.date().default(() => new Date()),
        d: z.date().catch(new Date()),
        e: z.date().nullish(),
        f: z.array(z.date()),
      }),
    ],
    ['all dates of which may be left out', 'body', z.object({ a: z.date() }).partial()],
    ['a date of an own function', 'body', z.object({ a: z.instanceof(Date), b: z.custom<Date>() })],
    [
      'one branch that JSON has',
      'body',
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('a'), at: z.date() }),
        z.object({ kind: z.literal('b') }),
      ]),
    ],
    ['schemas that hold themselves', 'body', Tree],
    [
      'numbers and booleans in a body',
      'body',
      z.object({ a: z.number(), b: z.boolean(), c: z.null(), d: z.object({}), e: z.undefined() }),
    ],
    ['objects in all', 'all', z.object({ a: z.object({ b: z.number() }) })],
    [
      'dates of Valibot from text',
      'body',
      toStandardJsonSchema(
        v.object({
          a: v.pipe(
            v.string(),
            v.isoTimestamp(),
            v.transform((text) => new Date(text)),
            v.date(),
          ),
          b: v.optional(v.date()),
          c: v.nullable(v.date()),
          d: v.union([v.string(), v.date()]),
        }),
      ),
    ],
    ['dates of ArkType from text', 'body', type({ a: 'string.date.parse', 'b?': 'Date', c: 'Date | string' })],
    [
      'of a validator without a description',
      'query',
      { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } },
    ],
  ])('%s', async (_what, part, schema) => {
    expect(await bootOf(part, schema)).toBe('boots')
  })
})

test('schemas with very many ways through them are looked at once', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `n${at}`)
  type Loop = { readonly [name: string]: z.ZodType }
  const loops: z.ZodType[] = names.map((_, at) =>
    z.lazy(() => z.object(Object.fromEntries(names.map((name, to) => [name, loops[(at + to + 1) % 40]!])) as Loop)),
  )
  expect(await bootOf('body', loops[0]!)).toBe('boots')
  const $defs = Object.fromEntries(
    names.map((name, at) => [name, json({}, { anyOf: names.slice(at + 1).map((to) => ({ $ref: `#/$defs/${to}` })) })]),
  )
  expect(await bootOf('query', json({ a: { anyOf: [{ $ref: '#/$defs/n0' }, { type: 'string' }] } }, { $defs }))).toBe(
    'boots',
  )
})

describe('a parameter that the path does not have fails the boot', () => {
  const boot = async (path: string, params: object) => {
    const server = new Server({ router: new RouteCollection() })
    server.get(path, { params }, () => 1)
    await server.ready()
    await server.close()
  }

  test.each([
    ['/a/:id', z.object({ ids: z.string() }), 'names "ids", which is not a parameter of /a/:id. Its parameters are id'],
    [
      '/a',
      { type: 'object', properties: { id: { type: 'string' } } },
      'which is not a parameter of /a. The path has no parameters',
    ],
    ['/a/:id', { type: 'object', required: ['other'] }, 'names "other"'],
  ])('%s', async (path, params, message) => {
    await expect(boot(path, params)).rejects.toThrow(message)
  })

  test.each([
    ['/a/:id?', z.object({ id: z.string().optional() })],
    ['/a/:id/*', z.object({ id: z.string(), '*': z.string() })],
    ['/a/:id', z.object({})],
  ])('%s has it', async (path, params) => {
    await expect(boot(path, params)).resolves.toBeUndefined()
  })
})
