import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type as OldType } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { RouteCollection, type RouteOptions, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ApiDocument } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import { memoryLogger } from '../support/kernel.ts'
import { problemsOf } from '../support/openapi.ts'
import { runTsc } from '../support/typescript.ts'

const id = { type: 'string' }
const node = (inside: object) => ({
  type: 'object',
  properties: { id, nodes: { type: 'array', items: inside } },
  required: ['id'],
})

interface Node {
  id: string
  nodes?: Node[] | undefined
}
const ZodGetter = z.object({
  id: z.string(),
  get nodes() {
    return z.array(ZodGetter).optional()
  },
})
const ZodLazy: z.ZodType<Node> = z.lazy(() => z.object({ id: z.string(), nodes: z.array(ZodLazy).optional() }))
const ZodNamed = z
  .object({
    id: z.string(),
    get nodes() {
      return z.array(ZodNamed).optional()
    },
  })
  .meta({ id: 'ZodNamed' })
const ValibotLazy: v.GenericSchema<Node> = v.object({
  id: v.string(),
  nodes: v.optional(v.array(v.lazy(() => ValibotLazy))),
})

/** Schemas of a tree that are known by themselves, so that they may stand in others. */
const named: { readonly [how: string]: object } = {
  '# in a schema with $id': { $id: 'HashInId', ...node({ $ref: '#' }) },
  'the $id': { $id: 'ById', ...node({ $ref: 'ById' }) },
  'an $id that is an address': {
    $id: 'https://a.test/schemas/tree.json',
    ...node({ $ref: 'https://a.test/schemas/tree.json' }),
  },
  'an address relative to the $id': { $id: 'https://a.test/schemas/leaf.json', ...node({ $ref: 'leaf.json#' }) },
  'a pointer from the $id': {
    $id: 'FromId',
    ...node({ $ref: 'FromId#/$defs/again' }),
    $defs: { again: { $ref: '#' } },
  },
  'a name of its $defs': { $ref: 'Inner', $defs: { Inner: { $id: 'Inner', ...node({ $ref: 'Inner' }) } } },
  'Type.Recursive': OldType.Recursive((This) =>
    OldType.Object({ id: OldType.String(), nodes: OldType.Optional(OldType.Array(This)) }),
  ),
  'Type.Recursive with $id': OldType.Recursive(
    (This) => OldType.Object({ id: OldType.String(), nodes: OldType.Optional(OldType.Array(This)) }),
    { $id: 'OldTree' },
  ),
  'Type.Module': OldType.Module({
    List: OldType.Array(OldType.Ref('Tree')),
    Tree: OldType.Object({ id: OldType.String(), nodes: OldType.Optional(OldType.Ref('List')) }),
  }).Import('Tree'),
  'Type.Cyclic': Type.Cyclic(
    {
      List: Type.Array(Type.Ref('Tree')),
      Tree: Type.Object({ id: Type.String(), nodes: Type.Optional(Type.Ref('List')) }),
    },
    'Tree',
  ),
  'Type.This with $id': Type.Object(
    { id: Type.String(), nodes: Type.Optional(Type.Array(Type.This())) },
    { $id: 'ThisTree' },
  ),
}
const zod: { readonly [how: string]: z.ZodType } = {
  'a getter of Zod': ZodGetter,
  'z.lazy': ZodLazy,
  'a getter of Zod with an id': ZodNamed,
}
/** Schemas of the same tree that refer to where they stand. */
const placed: { readonly [how: string]: object } = {
  '#': node({ $ref: '#' }),
  '#/': node({ $ref: '#/' }),
  '#/$defs/x': { $ref: '#/$defs/x', $defs: { x: node({ $ref: '#/$defs/x' }) } },
  '#/$defs/x, one after the other': {
    ...node({ $ref: '#/$defs/x' }),
    $defs: { x: { $ref: '#/$defs/y' }, y: { description: 'the whole', $ref: '#' } },
  },
  'a name with escapes': {
    $ref: '#/$defs/a~1b%20%25~0%22%23%27%C3%A9',
    $defs: { 'a/b %~"#\'é': node({ $ref: '#/$defs/a~1b%20%25~0%22%23%27%C3%A9' }) },
  },
  'definitions of draft-07': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $ref: '#/definitions/x',
    definitions: { x: node({ $ref: '#/definitions/x' }) },
  },
  'a pointer into the middle': { ...node({ ...node({ $ref: '#/properties/nodes/items' }) }) },
  'the anchor': { $anchor: 'here', ...node({ $ref: '#here' }) },
  'an anchor of draft-07': { $ref: '#x', definitions: { x: { $id: '#x', ...node({ $ref: '#x' }) } } },
  'an anchor elsewhere': { $ref: '#x', $defs: { tree: { $anchor: 'x', ...node({ $ref: '#x' }) } } },
  'Type.This': Type.Object({ id: Type.String(), nodes: Type.Optional(Type.Array(Type.This())) }),
}

const good = { id: 'a', nodes: [{ id: 'b', nodes: [{ id: 'c' }] }] }
// No text becomes an object, and no object text.
const bad = { id: 'a', nodes: [{ id: 'b', nodes: [{ id: {} }] }] }
const withSecret = { ...good, secret: 1, nodes: [{ id: 'b', secret: 1, nodes: [{ id: 'c', secret: 1 }] }] }

function serverOf(routes: { readonly [path: string]: RouteOptions }, answer?: unknown): Server {
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  for (const [path, options] of Object.entries(routes)) {
    server.post(path, options, (req) => answer ?? req.validated ?? req.body)
  }
  return server
}

const pathsOf = (text: string) => (JSON.parse(text) as { errors: { path: string }[] }).errors.map(({ path }) => path)

describe('a tree is checked to its leaves', () => {
  test.each(Object.entries({ ...named, ...placed, ...zod, 'v.lazy': ValibotLazy }))('%s', async (_how, schema) => {
    for (const options of [{ body: schema }, { all: schema }] as RouteOptions[]) {
      const server = serverOf({ '/': options })
      ;(await server.inject.post('/', { body: good })).assertStatus(200).assertBodyDeepEqual(good)
      const refused = await server.inject.post('/', { body: bad })
      refused.assertStatus(422)
      expect(pathsOf(refused.text())).toContain('/nodes/0/nodes/0/id')
    }
  })

  const inOthers = Object.entries(named).map(([how, schema]): [string, object] => [
    how,
    {
      type: 'object',
      properties: { first: schema, list: { type: 'array', items: schema } },
      required: ['first', 'list'],
    },
  ])
  const inZod = Object.entries(zod).map(([how, schema]): [string, object] => [
    how,
    z.object({ first: schema, list: z.array(schema) }),
  ])
  test.each([...inOthers, ...inZod])('as a part of another, and in a list: %s', async (_how, schema) => {
    for (const options of [{ body: schema }, { all: schema }] as RouteOptions[]) {
      const server = serverOf({ '/': options })
      ;(await server.inject.post('/', { body: { first: good, list: [good, good] } })).assertStatus(200)
      const refused = await server.inject.post('/', { body: { first: good, list: [good, bad] } })
      refused.assertStatus(422)
      expect(pathsOf(refused.text())).toContain('/list/1/nodes/0/nodes/0/id')
    }
  })

  test('many of them in one server and in one schema, each as itself', async () => {
    const all = { ...named, ...placed }
    const together = { type: 'object', properties: named, required: Object.keys(named) }
    const routes = Object.entries(all).map(([, body], i): [string, RouteOptions] => [`/${i}`, { body }])
    const server = serverOf({ ...Object.fromEntries(routes), '/together': { body: together } })
    for (const [path] of routes) {
      ;(await server.inject.post(path, { body: good })).assertStatus(200)
      ;(await server.inject.post(path, { body: bad })).assertStatus(422)
    }
    const names = Object.keys(named)
    const body = Object.fromEntries(names.map((name) => [name, good]))
    ;(await server.inject.post('/together', { body })).assertStatus(200)
    for (const name of names) {
      const refused = await server.inject.post('/together', { body: { ...body, [name]: bad } })
      refused.assertStatus(422)
      expect(decodeURIComponent(pathsOf(refused.text())[0]!)).toContain('/nodes/0/nodes/0/id')
    }
  })

  test('definitions of one name that differ are each known where they stand', async () => {
    const of = (type: 'string' | 'number') =>
      Type.Cyclic(
        {
          Tree: Type.Object({
            value: type === 'string' ? Type.String() : Type.Number(),
            next: Type.Optional(Type.Ref('Tree')),
          }),
        },
        'Tree',
      )
    const server = serverOf({ '/': { body: Type.Object({ text: of('string'), number: of('number') }) } })
    const text = { value: 'a', next: { value: 'b' } }
    const number = { value: 1, next: { value: 2 } }
    ;(await server.inject.post('/', { body: { text, number } })).assertStatus(200)
    ;(await server.inject.post('/', { body: { text, number: { value: 1, next: text } } })).assertStatus(422)
    ;(await server.inject.post('/', { body: { text: { value: 'a', next: number }, number } })).assertStatus(422)
  })

  test('# in a part without a name is the whole', async () => {
    const server = serverOf({ '/': { body: { type: 'object', properties: { part: node({ $ref: '#' }) } } } })
    ;(await server.inject.post('/', { body: { part: { id: 'a', nodes: [{ part: { id: 'b' } }] } } })).assertStatus(200)
    ;(await server.inject.post('/', { body: { part: { id: 'a', nodes: [{ part: {} }] } } })).assertStatus(422)
  })

  test('recursive schemas of two copies of TypeBox, which both number from T0 on', async () => {
    const tree = (type: string) => ({
      $id: 'T0',
      type: 'object',
      properties: { value: { type }, next: { $ref: 'T0' } },
      required: ['value'],
    })
    const server = serverOf({
      '/text': { body: tree('string') },
      '/number': { body: tree('number') },
      '/both': { body: { type: 'object', properties: { text: tree('string'), number: tree('number') } } },
    })
    ;(await server.inject.post('/text', { body: { value: 'a', next: { value: 'b' } } })).assertStatus(200)
    ;(await server.inject.post('/number', { body: { value: 1, next: { value: 'b' } } })).assertStatus(422)
    ;(await server.inject.post('/both', { body: { number: { value: 1, next: { value: 2 } } } })).assertStatus(200)
    ;(await server.inject.post('/both', { body: { number: { value: 1, next: { value: 'b' } } } })).assertStatus(422)
  })

  test('headers that are named after a reference, in any case', async () => {
    const part = { type: 'object', properties: { 'X-Count': { type: 'integer' } }, required: ['X-Count'] }
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
    const headers = { $ref: '#/$defs/part', $defs: { part } } as const
    server.get('/', { headers }, (req) => req.headers['x-count'])
    ;(await server.inject.get('/', { headers: { 'x-count': '5' } })).assertStatus(200).assertBodyDeepEqual(5)
    ;(await server.inject.get('/')).assertStatus(422)
  })
})

test('a default of a definition is filled in where a reference leads to it, in requests and answers', async () => {
  const schema = {
    type: 'object',
    properties: { kind: { $ref: '#/$defs/kind' }, alias: { $ref: '#/$defs/alias' }, next: { $ref: '#/$defs/next' } },
    $defs: {
      kind: { type: 'string', default: 'leaf' },
      alias: { $ref: '#/$defs/kind' },
      next: { type: ['object', 'null'], properties: { next: { $ref: '#/$defs/next' } }, default: null },
    },
  }
  const filled = { kind: 'leaf', alias: 'leaf', next: null }
  const inRequests = serverOf({ '/': { body: schema } })
  ;(await inRequests.inject.post('/', { body: {} })).assertStatus(200).assertBodyDeepEqual(filled)
  ;(await inRequests.inject.post('/', { body: { next: {} } }))
    .assertStatus(200)
    .assertBodyDeepEqual({ ...filled, next: { next: null } })
  const inAnswers = serverOf({ '/': { responses: { 200: schema } } }, {})
  ;(await inAnswers.inject.post('/')).assertStatus(200).assertBodyDeepEqual(filled)
})

test('of the headers, "all" takes those that the schema names after a reference, or that it only requires', async () => {
  const lazy: z.ZodType = z.lazy(() => z.strictObject({ 'x-a': z.string(), 'x-b': z.string() }))
  const json = {
    $ref: '#/$defs/a',
    required: ['x-b'],
    $defs: { a: { type: 'object', properties: { 'x-a': { type: 'string' } } } },
  }
  for (const all of [json, lazy]) {
    const server = serverOf({ '/': { all } })
    const response = await server.inject.post('/', { body: {}, headers: { 'x-a': '1', 'x-b': '2', 'x-c': '3' } })
    response.assertStatus(200).assertBodyDeepEqual({ 'x-a': '1', 'x-b': '2' })
  }
})

describe('an unusable schema fails the boot', () => {
  const boot = async (options: RouteOptions) => {
    const server = serverOf({ '/trees': options })
    return await server.ready().then(
      () => 'ready',
      (error: Error) => `${error.message} ${(error.cause as Error | undefined)?.message}`,
    )
  }

  test.each<[string, object]>([
    ['itself', { $ref: '#' }],
    ['a circle of references', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
    ['itself or null', { anyOf: [{ type: 'null' }, { $ref: '#' }] }],
    ['itself in a part', { type: 'object', properties: { a: { allOf: [{ $ref: '#/properties/a' }] } } }],
  ])('a schema that is nothing but %s', async (_what, schema) => {
    const why = 'a reference points to itself, so no value can be checked'
    expect(await boot({ body: schema })).toContain(why)
    expect(await boot({ responses: { 200: schema } })).toContain(why)
  })

  test.each<[string, object, string]>([
    ['to nothing', { properties: { a: { $ref: '#/$defs/none' } } }, 'the reference "#/$defs/none" cannot be resolved'],
    ['to another schema of the server', { items: { $ref: 'ById' } }, 'the reference "ById" cannot be resolved'],
    [
      'to two that differ',
      {
        properties: {
          a: { $id: 'A', type: 'string' },
          b: { $id: 'A', type: 'number' },
          c: { $ref: 'A' },
        },
      },
      'the reference "A" could mean several schemas, which differ',
    ],
    ['whose target depends on the way', { items: { $dynamicRef: '#item' } }, '$dynamicRef is not supported. Use $ref'],
    ['of 2019-09 to the outermost', { items: { $recursiveRef: '#' } }, '$recursiveRef is not supported. Use $ref'],
  ])('a reference %s', async (_what, schema, why) => {
    expect(await boot({ body: schema })).toContain(why)
    expect(await boot({ responses: { 200: schema } })).toContain(why)
  })

  test.each(Object.entries(named))('a tree in a query: %s', async (_how, schema) => {
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
    server.get('/trees', { query: { type: 'object', properties: { tree: schema } } }, () => 1)
    const error = (await server.ready().catch((thrown: unknown) => thrown)) as Error & { cause: { code: string } }
    expect(error.cause).toMatchObject({ code: 'SchemaMemberError' })
    expect(error.cause).toHaveProperty('message', expect.stringContaining('the member "tree"'))
  })

  test('a tree as a query: its list would hold objects', async () => {
    for (const schema of [...Object.values(placed), ...Object.values(zod)]) {
      const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
      server.get('/trees', { query: schema }, () => 1)
      const error = (await server.ready().catch((thrown: unknown) => thrown)) as Error & { cause: { code: string } }
      expect(error.cause).toMatchObject({ code: 'SchemaMemberError' })
    }
  })
})

test('a list in a query of a recursive Zod schema may be given once', async () => {
  const Filter: z.ZodType<{ tag: string[] }> = z.lazy(() => z.object({ tag: z.array(z.string()) }))
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  server.get('/', { query: Filter }, (req) => req.query as object)
  ;(await server.inject.get('/?tag=a')).assertStatus(200).assertBodyDeepEqual({ tag: ['a'] })
})

describe('of a response no more leaves than the tree names, at any depth', () => {
  test.each(Object.entries({ ...named, ...placed, ...zod }))('%s', async (_how, schema) => {
    const fitting = serverOf({ '/': { responses: { 200: schema } } }, withSecret)
    ;(await fitting.inject.post('/')).assertStatus(200).assertBodyDeepEqual(good)
    const wrong = serverOf({ '/': { responses: { 200: schema } } }, bad)
    ;(await wrong.inject.post('/')).assertStatus(500)
  })

  test.each(Object.entries({ ...named, ...placed }))('leniently: %s', (_how, schema) => {
    const reported: string[] = []
    const write = new Server().services
      .get('responses')
      .compile({ 200: schema }, { route: 'GET /', onMismatch: (error) => reported.push(error.message) })
    const wrong = { ...withSecret, nodes: [{ id: 5, secret: 1, nodes: [{ id: 'c', secret: 1 }] }] }
    expect(JSON.parse(write(wrong, 200))).toEqual({ id: 'a', nodes: [{ id: 5, nodes: [{ id: 'c' }] }] })
    expect(reported).toHaveLength(1)
  })

  test('keywords beside a reference hold as well', async () => {
    const responses = {
      200: {
        $ref: '#/$defs/base',
        properties: { name: { type: 'string' }, inner: { type: 'object', properties: { b: { type: 'string' } } } },
        $defs: {
          base: {
            type: 'object',
            properties: { id: { type: 'integer' }, inner: { type: 'object', properties: { a: { type: 'string' } } } },
          },
        },
      },
    }
    const body = { id: 1, name: 'ada', password: 'x', inner: { a: 'a', b: 'b', c: 'c' } }
    const response = await serverOf({ '/': { responses } }, body).inject.post('/')
    response.assertStatus(200).assertBodyDeepEqual({ id: 1, name: 'ada', inner: { a: 'a', b: 'b' } })
  })
})

describe('described and in the client', () => {
  const all = Object.entries({
    ...named,
    ...placed,
    ...zod,
    'v.lazy': toStandardJsonSchema(ValibotLazy as never) as object,
  })
  const server = serverOf(
    Object.fromEntries(
      all.map(([, schema], i): [string, RouteOptions] => [`/trees${i}`, { body: schema, responses: { 200: schema } }]),
    ),
  )
  const document = describeServer(server, { failures: false })

  test('the description is valid, and each tree leads to itself in the components', async () => {
    expect(await problemsOf(document)).toEqual([])
    type Shown = { $ref?: string; properties?: { nodes: Shown }; items?: Shown }
    const follow = ({ $ref, ...beside }: Shown): Shown => {
      if ($ref === undefined) return beside
      const name = /^#\/components\/schemas\/([\w.-]+)$/.exec($ref)![1]!
      return { ...follow(document.components!.schemas![name] as Shown), ...beside }
    }
    const nodeOf = (tree: Shown) => follow(follow(follow(tree).properties!.nodes).items!)
    for (const [i, [how]] of all.entries()) {
      const { requestBody, responses } = document.paths[`/trees${i}`]!.post!
      for (const { content } of [requestBody!, responses['200'] as { content: object }]) {
        const { schema } = (content as { [type: string]: { schema: Shown } })['application/json']!
        expect([how, nodeOf(nodeOf(schema))]).toEqual([how, nodeOf(schema)])
      }
    }
  })

  test('the numbers of TypeBox and Zod are not visible', () => {
    const names = Object.keys(document.components!.schemas!)
    expect(names.filter((name) => /^T\d|schema\d/.test(name))).toEqual([])
  })

  test('the client has a type for each that holds itself, and compiles', () => {
    const folder = mkdtempSync(join(tmpdir(), 'recursive-'))
    try {
      writeFileSync(join(folder, 'client.ts'), generateClient(document as unknown as ApiDocument))
      const uses = all.map(
        (_one, i) => `export async function use${i}() {
  const { status, data } = await client.trees${i}.post({ body: { id: 'a', nodes: [{ id: 'b', nodes: [{ id: 'c' }] }] } })
  if (status !== 200) return
  const id: string | undefined = data.nodes?.[0]?.nodes?.[0]?.id
  // @ts-expect-error it is a text
  const wrong: number | undefined = data.nodes?.[0]?.nodes?.[0]?.id
  // @ts-expect-error so is the one that is sent
  await client.trees${i}.post({ body: { id: 'a', nodes: [{ id: 'b', nodes: [{ id: 5 }] }] } })
  return [id, wrong]
}`,
      )
      writeFileSync(
        join(folder, 'use.ts'),
        `import { createClient } from './client.ts'\nconst client = createClient()\n${uses.join('\n')}\n`,
      )
      const args = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--types',
        '',
        '--lib',
        'es2023,dom',
      ]
      const { errors, output } = runTsc([...args, '--allowImportingTsExtensions', 'use.ts'], folder)
      expect([...errors.values()].flat(), output).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
