import { describe, expect, test } from 'vitest'
import type { ApiDocument, Schema } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import { SchemaPrinter } from '../../cli/sdk/schema.ts'

describe('a schema is printed as the type', () => {
  const printer = new SchemaPrinter({}, new Set())
  test.each<[Schema, string]>([
    [true, 'unknown'],
    [{}, 'unknown'],
    [false, 'never'],
    [{ type: 'string', format: 'date-time' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ nullable: true, allOf: [{ type: 'string' }, { enum: ['a'] }] }, "(string & 'a') | null"],
    [{ const: "it's" }, "'it\\'s'"],
    [{ enum: ['a', 1, null, 'a'] }, "'a' | 1 | null"],
    [{ enum: [] }, 'never'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ type: 'array', items: { type: 'array', items: { enum: ['a|b'] } } }, "'a|b'[][]"],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, true], minItems: 1, items: false }, '[string, unknown?]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, '[string?, ...unknown[]]'],
    [{ type: 'object' }, '{ [name: string]: unknown }'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number }'],
    [{ type: 'object', properties: { a: true }, required: ['a', 'b'] }, '{\n  a: unknown\n  b: unknown\n}'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ allOf: [{ type: 'string' }, { enum: ['a', 'b'] }] }, "string & ('a' | 'b')"],
    [{ $ref: '#/components/schemas/nowhere' }, 'unknown'],
    [{ $ref: 'http://elsewhere.test/schema' }, 'unknown'],
  ])('%j: %s', (schema, type) => {
    expect(printer.type(schema, 'output')).toBe(type)
  })

  test('a member with a default need not be sent, and always exists in answers', () => {
    const schema: Schema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } },
      required: ['a'],
    }
    expect(printer.type(schema, 'output')).toBe('{\n  a: string\n  b?: string\n}')
    expect(printer.type(schema, 'input')).toBe('{\n  a?: string | undefined\n  b?: string | undefined\n}')
  })

  test('an optional type has no parentheses, a combination has them', () => {
    const nullable: Schema = { type: ['string', 'null'] }
    const both: Schema = { allOf: [{ $ref: '#/components/schemas/A' }, { properties: { b: {} } }] }
    expect(printer.type({ type: 'object', properties: { a: nullable } }, 'input')).toBe(
      '{\n  a?: string | null | undefined\n}',
    )
    const inside = new SchemaPrinter({ components: { schemas: { A: { properties: { a: {} } } } } }, new Set())
    expect(inside.type({ anyOf: [both, { type: 'null' }] }, 'output')).toBe('(A & {\n  b?: unknown\n}) | null')
    expect(inside.type({ type: 'array', items: both }, 'output')).toBe('(A & {\n  b?: unknown\n})[]')
  })

  test('keywords beside a reference apply as well', () => {
    const inside = new SchemaPrinter({ components: { schemas: { A: { properties: { a: {} } } } } }, new Set())
    const reference = { $ref: '#/components/schemas/A' }
    const type = (beside: object) => inside.type({ ...reference, ...beside } as Schema, 'output')
    expect(type({ description: 'x' })).toBe('A')
    expect(type({ properties: { b: {} }, required: ['b'] })).toBe('A & {\n  b: unknown\n}')
    expect(type({ type: ['object', 'null'] })).toBe('A & ({ [name: string]: unknown } | null)')
    expect(type({ allOf: [{ properties: { b: {} } }] })).toBe('A & {\n  b?: unknown\n}')
  })

  test('a date may be sent as one where it is not JSON', () => {
    const date: Schema = { type: 'string', format: 'date-time' }
    expect(['input', 'query', 'form', 'output'].map((direction) => printer.type(date, direction as 'input'))).toEqual([
      'string',
      'string | Date',
      'string | Date',
      'string',
    ])
    expect(printer.type({ type: 'array', items: date }, 'query')).toBe('(string | Date)[]')
  })

  test('files of a form are Blobs, beside fields of any name', () => {
    const file: Schema = { type: 'string', format: 'binary' }
    const schema: Schema = { type: 'object', properties: { cover: file }, required: ['cover'] }
    expect(printer.type(schema, 'form')).toBe('{\n  cover: Blob\n  [name: string]: unknown\n}')
  })

  test('a circle through references into the middle of other schemas ends', () => {
    const document: ApiDocument = {
      components: {
        schemas: { A: { type: 'object', properties: { b: { $ref: '#/components/schemas/A/properties/b' } } } },
      },
    }
    expect(new SchemaPrinter(document, new Set()).type({ $ref: '#/components/schemas/A/properties/b' }, 'output')).toBe(
      'unknown',
    )
  })
})

describe('components', () => {
  const client = (schemas: Record<string, Schema>) => {
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/${Object.keys(schemas)[0]}` } } }
    const operation = { requestBody: { required: true, content }, responses: { 200: { content } } }
    return generateClient({ paths: { '/': { post: operation } }, components: { schemas } } as unknown as ApiDocument)
  }

  test('are interfaces, recursive ones too; unused ones are left out', () => {
    const text = client({
      Tree: { type: 'object', properties: { left: { $ref: '#/components/schemas/Tree' } } },
      Other: { type: 'string' },
    })
    expect(text).toContain('export interface Tree {\n  left?: Tree\n}\n')
    expect(text).not.toContain('Other')
  })

  test('have a second form where input and output differ', () => {
    const text = client({
      Post: { type: 'object', properties: { lang: { type: 'string', default: 'en' } }, required: ['lang'] },
    })
    expect(text).toContain('export interface Post {\n  lang: string\n}\n')
    expect(text).toContain('export interface PostInput {\n  lang?: string | undefined\n}\n')
    expect(text).toContain('body: PostInput\n')
  })

  test('never hide names that the file itself uses', () => {
    for (const name of ['Response', 'Promise', 'Client', 'Call', 'unknown']) {
      expect(client({ [name]: { type: 'object', properties: { a: true } } }), name).toContain('export interface ')
      expect(client({ [name]: { type: 'object', properties: { a: true } } }), name).not.toContain(
        `interface ${name} {\n  a?`,
      )
    }
  })
})

describe('names of the members', () => {
  const members = (...paths: string[]) => {
    const text = generateClient({ paths: Object.fromEntries(paths.map((path) => [path, { get: {} }])) })
    return Object.fromEntries(
      [...text.matchAll(/^ {4}('?[^\s':]+'?): (?:\(\w+\) => )?\{/gm)].map(([, name], at) => [
        at,
        name!.replaceAll("'", ''),
      ]),
    )
  }
  const names = (...paths: string[]) => Object.values(members(...paths)).sort()

  test.each([
    [
      ['/snake_case', '/kebab-case', '/Upper'],
      ['kebabCase', 'snakeCase', 'upper'],
    ],
    [
      ['/v1.2', '/2fa'],
      ['_2fa', 'v1_2'],
    ],
    [
      ['/a-b', '/aB', '/a_b'],
      ['aB', 'aB2', 'aB3'],
    ],
    [
      ['/{id}', '/byId', '/{other-id}'],
      ['byId', 'byId2', 'byOtherId'],
    ],
    [
      ['/{wildcard}', '/rest'],
      ['rest', 'rest2'],
    ],
    [
      ['/~', '/-'],
      ['_', '_2'],
    ],
    [
      ['/get', '/then', '/constructor', '/__proto__'],
      ['constructor2', 'get2', 'proto', 'then2'],
    ],
  ])('%j', (paths, expected) => {
    expect(names(...paths)).toEqual(expected)
  })
})

test('failures that operations have in common get one name', () => {
  const failure = { type: 'object', properties: { code: { type: 'string' } } }
  const responses = { 422: { content: { 'application/json': { schema: failure } } } }
  const text = generateClient({
    paths: { '/a': { get: { responses } }, '/b': { get: { responses } } },
  } as unknown as ApiDocument)
  expect(text).toContain('export type UnprocessableEntity = {\n  code?: string\n}\n')
  expect(text.match(/422: UnprocessableEntity/g)).toHaveLength(2)
})

test('a route that declares no responses may have any success, and one that declares a 200 has that', () => {
  const clientOf = (responses: object) =>
    generateClient({ paths: { '/': { get: { responses } } } } as unknown as ApiDocument)
  const ok = { description: 'OK' }
  expect(clientOf({ 200: ok })).toContain('get(input?: CallOptions): Call<{}>')
  expect(clientOf({ 200: ok, 404: ok })).toContain('Call<{\n    404: unknown\n  }>')
  expect(clientOf({ 200: ok, 201: ok })).toContain('Call<{\n    200: unknown\n    201: unknown\n  }>')
  expect(clientOf({ 200: { content: { 'text/plain': {} } } })).toContain('Call<{\n    200: string\n  }>')
})

test('a response to HEAD has no data, whatever is declared', () => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } }
  const text = generateClient({
    components: { schemas: { Book: { type: 'object' } } },
    paths: { '/': { head: { responses: { 200: { content }, '4XX': { content } } } } },
  } as unknown as ApiDocument)
  expect(text).toMatch(/head\(input\?: CallOptions\): Call<\{\n {4}200: undefined\n {2}\} & \{ .*: undefined \}>/)
  expect(text).not.toContain('interface Book')
})

test('a sequence of JSON values is not JSON', () => {
  const content = { 'application/json-seq': { schema: { type: 'object' } } }
  const text = generateClient({
    paths: { '/': { post: { requestBody: { required: true, content }, responses: { 200: { content } } } } },
  } as unknown as ApiDocument)
  expect(text).toContain('body: Blob | ArrayBuffer | string\n')
  expect(text).toContain('200: Blob\n')
})

test('a query of any names takes them beside those that it names', () => {
  const clientOf = (parameters: object[]) =>
    generateClient({ paths: { '/': { get: { parameters, responses: {} } } } } as unknown as ApiDocument)
  const schema = { type: 'object', additionalProperties: { type: 'integer' } }
  const free = { name: 'query', in: 'query', style: 'form', explode: true, schema, description: 'Counts.' }
  const limit = { name: 'limit', in: 'query', required: true, schema: { type: 'integer' } }
  expect(clientOf([free])).toContain('query?: {\n      /** Counts. */\n      [name: string]: number | undefined\n    }')
  expect(clientOf([free, limit])).toContain(
    'query: {\n      limit: number\n      /** Counts. */\n      [name: string]: unknown\n    }',
  )
})
