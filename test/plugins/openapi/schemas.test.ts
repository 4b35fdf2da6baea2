import { Type as OldType } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from 'framework'
import { RouteCollection, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Chance } from '../../support/chance.ts'
import { isLong } from '../../support/long.ts'
import { problemsOf } from '../../support/openapi.ts'
import { randomRoot, randomValue } from '../../support/random-schemas.ts'

/** The description of a server with one route for each schema: as its body, or as its response. */
async function described(schemas: readonly object[], part: 'body' | 'answer' = 'body'): Promise<OpenApiDocument> {
  const server = new Server({ router: new RouteCollection() })
  schemas.forEach((schema, i) => {
    if (part === 'body') server.post(`/r${i}`, { body: schema }, () => {})
    else server.post(`/r${i}`, { responses: { 200: schema } }, () => {})
  })
  const document = describeServer(server, { failures: false })
  expect(await problemsOf(document)).toEqual([])
  return document
}

function schemaAt(document: OpenApiDocument, index: number, part: 'body' | 'answer' = 'body'): unknown {
  const operation = document.paths[`/r${index}`]!.post!
  const answer = operation.responses['200'] as { content?: { [type: string]: { schema?: unknown } } }
  const content = part === 'body' ? operation.requestBody!.content : answer.content!
  return content['application/json']!.schema
}

const bodyOf = async (schema: object) => schemaAt(await described([schema]), 0)
const answerOf = async (schema: object) => schemaAt(await described([schema], 'answer'), 0, 'answer')

describe('JSON Schema of older drafts becomes that of 2020-12', () => {
  test.each([
    [
      'tuples',
      { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    ],
    [
      'additionalItems that mean nothing',
      { type: 'array', items: { type: 'string' }, additionalItems: false },
      { type: 'array', items: { type: 'string' } },
    ],
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    ['nullable of a list', { type: ['string', 'integer'], nullable: true }, { type: ['string', 'integer', 'null'] }],
    ['not nullable', { type: 'string', nullable: false }, { type: 'string' }],
    [
      'dependencies',
      { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] } } },
      { type: 'object', dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
    ],
    [
      'exclusive limits of draft 4',
      { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: 'number', exclusiveMinimum: 1, maximum: 9 },
    ],
    [
      'the dialect and what is for validators',
      { $schema: 'http://json-schema.org/draft-07/schema#', $comment: 'x', type: 'string', 'x-mine': [1] },
      { type: 'string', 'x-mine': [1] },
    ],
    [
      'boolean schemas',
      { type: 'object', properties: { a: true, b: false }, additionalProperties: false },
      { type: 'object', properties: { a: true, b: false }, additionalProperties: false },
    ],
    [
      'data in const, enum and default as it is',
      { enum: [{ $id: 'y', $defs: {} }, null], default: { $id: 'x', type: 'no' } },
      { enum: [{ $id: 'y', $defs: {} }, null], default: { $id: 'x', type: 'no' } },
    ],
  ])('%s', async (_what, schema, expected) => {
    expect(await bodyOf(schema)).toEqual(expected)
  })

  test('invalid members are left out', async () => {
    const odd = {
      type: 'object',
      required: true,
      minProperties: -1,
      title: 5,
      pattern: '(',
      anyOf: [],
      enum: 'x',
      allOf: 'y',
      properties: null,
      maximum: Number.NaN,
      default: () => 1,
      uniqueItems: 'yes',
    }
    expect(await bodyOf(odd)).toEqual({ type: 'object' })
    expect(await bodyOf({ type: 'file' })).toEqual({ description: 'Not described: the type is not a JSON type.' })
    expect(await bodyOf({ type: 'object', properties: { a: 5, b: null } })).toEqual({
      type: 'object',
      properties: {
        a: { description: 'Not described: a part of it is not a schema.' },
        b: { description: 'Not described: a part of it is not a schema.' },
      },
    })
    expect(await bodyOf({ default: { big: 5n, huge: 10n ** 30n, at: new Date(0), no: undefined, fn() {} } })).toEqual({
      default: { big: 5, huge: '1000000000000000000000000000000', at: '1970-01-01T00:00:00.000Z' },
    })
  })

  test('names of every kind', async () => {
    const properties: object = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"a/b~c":{"type":"null"},"\\"\'<>":{},"":{}}',
    )
    const schema = (await bodyOf({ type: 'object', properties, required: ['__proto__'] })) as { properties: object }
    expect(Object.keys(schema.properties).sort()).toEqual(['', '"\'<>', '__proto__', 'a/b~c', 'constructor'])
    expect(Object.getOwnPropertyDescriptor(schema.properties, '__proto__')?.value).toEqual({ type: 'string' })
    expect(({} as { type?: unknown }).type).toBeUndefined()
  })
})

describe('references', () => {
  const User = { $id: 'User', type: 'object', properties: { name: { type: 'string' } } }

  test('a schema with a name is one component wherever it is used', async () => {
    const document = await described([
      User,
      { type: 'array', items: User },
      { $id: 'User', type: 'object', properties: { name: { type: 'string' } } },
    ])
    expect(schemaAt(document, 0)).toEqual({ $ref: '#/components/schemas/User' })
    expect(schemaAt(document, 1)).toEqual({ type: 'array', items: { $ref: '#/components/schemas/User' } })
    expect(schemaAt(document, 2)).toEqual({ $ref: '#/components/schemas/User' })
    expect(document.components?.schemas).toEqual({ User: { type: 'object', properties: { name: { type: 'string' } } } })
  })

  test('two of one name that differ get two names, and so do schemas that refer to them', async () => {
    const one = {
      $ref: '#/definitions/A',
      definitions: { A: { type: 'object', properties: { b: { $ref: '#/definitions/B' } } }, B: { type: 'string' } },
    }
    const two = {
      $ref: '#/definitions/A',
      definitions: { A: { type: 'object', properties: { b: { $ref: '#/definitions/B' } } }, B: { type: 'integer' } },
    }
    const document = await described([one, two, structuredClone(one)])
    expect([0, 1, 2].map((i) => schemaAt(document, i))).toEqual([
      { $ref: '#/components/schemas/A' },
      { $ref: '#/components/schemas/A2' },
      { $ref: '#/components/schemas/A' },
    ])
    expect(Object.keys(document.components!.schemas!).sort()).toEqual(['A', 'A2', 'B', 'B2'])
  })

  test('schemas that share their definitions share the components', async () => {
    const $defs = {
      A: { type: 'object', properties: { b: { $ref: '#/$defs/B' } } },
      B: { type: 'object', properties: { a: { $ref: '#/$defs/A' } } },
    }
    const document = await described([
      { $ref: '#/$defs/A', $defs },
      { $ref: '#/$defs/B', $defs },
      { type: 'array', items: { $ref: '#/$defs/B' }, $defs },
    ])
    expect(Object.keys(document.components!.schemas!).sort()).toEqual(['A', 'B'])
    expect(schemaAt(document, 2)).toEqual({ type: 'array', items: { $ref: '#/components/schemas/B' } })
  })

  test('a schema that several routes share is a component, a small one is not', async () => {
    const shared = { type: 'object', properties: { a: { type: 'string' } } }
    const text = { type: 'string', maxLength: 5 }
    const document = await described([shared, shared, text, text])
    expect(schemaAt(document, 1)).toEqual({ $ref: '#/components/schemas/PostR0Body' })
    expect(schemaAt(document, 3)).toEqual(text)
  })

  test('recursion: by #, by $defs, by $id, by anchor, by TypeBox, by Zod, and by an object within itself', async () => {
    const circular: { [name: string]: unknown } = { type: 'object' }
    circular.properties = { self: circular }
    interface Node {
      next?: Node | undefined
    }
    const Node: z.ZodType<Node> = z.object({
      get next() {
        return Node.optional()
      },
    })
    const document = await described([
      { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } },
      { $defs: { N: { type: 'object', properties: { n: { $ref: '#/$defs/N' } } } }, $ref: '#/$defs/N' },
      {
        $id: 'https://a.test/schemas/leaf.schema.json',
        type: 'object',
        properties: { l: { $ref: 'leaf.schema.json' } },
      },
      {
        type: 'object',
        properties: { t: { $ref: '#there' } },
        $defs: { x: { $anchor: 'there', type: 'object', properties: { t: { $ref: '#there' } } } },
      },
      OldType.Recursive((This) => OldType.Object({ list: OldType.Array(This) })),
      Type.Cyclic({ Person: Type.Object({ friend: Type.Optional(Type.Ref('Person')) }) }, 'Person'),
      OldType.Module({
        A: OldType.Object({ b: OldType.Ref('B') }),
        B: OldType.Object({ a: OldType.Optional(OldType.Ref('A')) }),
      }).Import('A'),
      Node,
      circular,
    ])
    const names = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => JSON.stringify(schemaAt(document, i)))
    expect(names[0]).toBe('{"$ref":"#/components/schemas/PostR0Body"}')
    expect(names[1]).toBe('{"$ref":"#/components/schemas/N"}')
    expect(names[2]).toBe('{"$ref":"#/components/schemas/leaf"}')
    expect(names[3]).toBe('{"type":"object","properties":{"t":{"$ref":"#/components/schemas/there"}}}')
    expect(names[4]).toBe('{"$ref":"#/components/schemas/PostR4Body"}')
    expect(names[5]).toBe('{"$ref":"#/components/schemas/Person"}')
    expect(names[6]).toBe('{"$ref":"#/components/schemas/A"}')
    expect(document.components?.schemas?.PostR8Body).toEqual({
      type: 'object',
      properties: { self: { $ref: '#/components/schemas/PostR8Body' } },
    })
  })

  test('a reference that cannot be resolved is {} with the reason, and reported', async () => {
    expect(await bodyOf({ type: 'object', properties: { a: { $ref: '#/definitions/None' } } })).toEqual({
      type: 'object',
      properties: { a: { description: 'Not described: the reference "#/definitions/None" cannot be resolved.' } },
    })
  })

  test('pointers with escapes, to a place in the middle, and keywords beside a reference', async () => {
    const document = await described([
      {
        type: 'object',
        properties: {
          'a/b ~': { type: 'object', properties: { deep: { type: 'string', maxLength: 3 } } },
          same: { $ref: '#/properties/a~1b%20~0', description: 'the same' },
          deep: { $ref: '#/properties/a~1b%20~0/properties/deep' },
        },
      },
    ])
    expect(document.components?.schemas).toEqual({
      a_b: { type: 'object', properties: { deep: { type: 'string', maxLength: 3 } } },
      deep: { type: 'string', maxLength: 3 },
    })
    expect(schemaAt(document, 0)).toMatchObject({
      properties: { same: { $ref: '#/components/schemas/a_b', description: 'the same' } },
    })
  })

  test('the mapping of a discriminator leads where its references do', async () => {
    const document = await described([
      {
        oneOf: [{ $ref: '#/definitions/Cat' }],
        discriminator: { propertyName: 'kind', mapping: { cat: '#/definitions/Cat', none: '#/definitions/None' } },
        definitions: { Cat: { type: 'object', properties: { kind: { const: 'cat' } }, required: ['kind'] } },
      },
    ])
    expect(schemaAt(document, 0)).toEqual({
      oneOf: [{ $ref: '#/components/schemas/Cat' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat' } },
    })
  })

  test('nesting without end, and one object in very many places, end neither the stack nor the memory', async () => {
    let deep: object = { type: 'string' }
    for (let i = 0; i < 5_000; i++) deep = { type: 'object', properties: { a: deep } }
    let wide: object = { type: 'object', properties: { end: { type: 'string' } } }
    for (let i = 0; i < 60; i++) wide = { anyOf: [wide, wide] }
    const document = describeServer(serverWith(deep, wide))
    expect(await problemsOf(document)).toEqual([])
    expect(JSON.stringify(document).length).toBeLessThan(1_000_000)
  })
})

function serverWith(...schemas: object[]): Server {
  const server = new Server({ router: new RouteCollection() })
  schemas.forEach((schema, i) => {
    server.post(`/r${i}`, { body: schema }, () => {})
  })
  return server
}

describe('validators that are asked for their JSON Schema', () => {
  test('Zod says different things of requests and answers', async () => {
    const User = z
      .object({
        id: z.int(),
        at: z.date(),
        role: z.string().default('member'),
        size: z.string().transform((text) => text.length),
      })
      .meta({ id: 'User' })
    const server = new Server({ router: new RouteCollection() })
    server.post('/users', { body: User, responses: { 201: User } }, () => {})
    const document = describeServer(server, { failures: false })
    expect(await problemsOf(document)).toEqual([])
    const integer = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    const base = {
      id: integer,
      at: { type: 'string', format: 'date-time' },
      role: { type: 'string', default: 'member' },
    }
    expect(document.components?.schemas).toEqual({
      User: { type: 'object', properties: { ...base, size: { type: 'string' } }, required: ['id', 'at', 'size'] },
      UserOutput: { type: 'object', properties: { ...base, size: {} }, required: ['id', 'at', 'role', 'size'] },
    })
  })

  test('Zod with one meaning is one component', async () => {
    const Name = z.object({ name: z.string() }).meta({ id: 'Name' })
    const server = new Server({ router: new RouteCollection() })
    server.post('/a', { body: Name, responses: { 200: z.array(Name), 201: Name } }, () => {})
    expect(Object.keys(describeServer(server, { failures: false }).components?.schemas ?? {})).toEqual(['Name'])
  })

  test('a value without a form in JSON is {}', async () => {
    expect(
      await answerOf(z.object({ map: z.map(z.string(), z.string()), none: z.undefined().optional(), any: z.any() })),
    ).toEqual({
      type: 'object',
      properties: { map: {}, none: {}, any: {} },
      required: ['map', 'any'],
    })
    expect(await bodyOf(z.coerce.bigint())).toEqual({ type: 'integer', format: 'int64' })
  })

  test('TypeBox of both packages is plain JSON Schema', async () => {
    expect(await bodyOf(OldType.Object({ a: OldType.Optional(OldType.String()), at: OldType.Date() }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, at: { type: 'string', format: 'date-time' } },
      required: ['at'],
    })
    expect(await bodyOf(Type.Object({ a: Type.Optional(Type.String()) }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    })
  })

  test('any other Standard Schema: by its own description, else {} with the reason', async () => {
    const validate = (value: unknown) => ({ value })
    const silent = { '~standard': { version: 1, vendor: 'acme', validate } }
    const speaking = {
      '~standard': {
        ...silent['~standard'],
        jsonSchema: { input: () => ({ type: 'string' }), output: () => ({ type: 'number' }) },
      },
    }
    const failing = Object.assign(() => {}, {
      '~standard': {
        ...silent['~standard'],
        jsonSchema: {
          input: () => {
            throw new Error('never')
          },
          output: 5,
        },
      },
    })
    expect(await bodyOf(silent)).toEqual({
      description: 'Not described: a schema of "acme" without Standard JSON Schema.',
    })
    expect(await bodyOf(speaking)).toEqual({ type: 'string' })
    expect(await answerOf(speaking)).toEqual({ type: 'number' })
    expect(await bodyOf(failing)).toEqual({ description: 'Not described: never.' })
  })
})

describe('by chance', () => {
  test('a described schema takes exactly the values that the schema takes', async () => {
    const chance = new Chance(20_31)
    const roots = Array.from({ length: isLong ? 150 : 40 }, () => randomRoot(chance, { free: true }))
    const written = roots.map((schema, i) => inSomeDraft(schema, i % 2 === 0) as object)
    const document = await described(written)
    const options = { strict: false, logger: false, validateFormats: false } as const
    const after = new Ajv2020(options)
    after.addSchema({ $id: 'doc:', ...document })
    const [modern, old] = [new Ajv2020(options), new Ajv(options)]
    let taken = 0
    written.forEach((schema, i) => {
      // No one can compile an empty list of values.
      if (JSON.stringify(schema).includes('"enum":[]')) return
      const isModern = JSON.stringify(schema).includes('"prefixItems"')
      const given = (isModern ? modern : old).compile(schema)
      const shown = after.compile({ $ref: `doc:#/paths/~1r${i}/post/requestBody/content/application~1json/schema` })
      const root = roots[i]!
      for (let n = 0; n < 20; n++) {
        const value = toJson(randomValue(chance, root, root, n < 10 ? 0 : 0.2))
        if (value === undefined) continue
        const takes = given(value)
        taken += Number(takes)
        expect([i, value, shown(value)]).toEqual([i, value, takes])
      }
    })
    expect(taken).toBeGreaterThan(4 * roots.length)
  })
})

function toJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Tuples as draft-07 writes them in half of the schemas, so that both ways are met. */
function inSomeDraft(schema: unknown, old: boolean): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map((one) => inSomeDraft(one, old))
  const written: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(schema)) {
    const known = old && 'prefixItems' in schema ? { prefixItems: 'items', items: 'additionalItems' }[name] : undefined
    Object.defineProperty(written, known ?? name, { value: inSomeDraft(value, old), enumerable: true })
  }
  return written
}
