import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  definePlugin,
  type OpenApiDocument,
  PolicyManager,
  RouteCollection,
  type RouteOptions,
  Server,
} from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'
import { problemsOf } from '../../support/openapi.ts'

const policies = new PolicyManager({ site: { always: () => true, never: () => false } })
const always = { manager: policies, scope: 'site', handler: 'always' } as const
const never = { ...always, handler: 'never' } as const
const text = { type: 'string' } as const
const filter = { type: 'object', properties: { a: { type: 'integer' } } } as const
const handler = () => {}

function makeServer(plugins: object = {}): Server {
  return new Server({ router: new RouteCollection(), plugins: plugins as {} })
}

async function documentOf(server: Server, options?: Parameters<typeof describeServer>[1]): Promise<OpenApiDocument> {
  const document = describeServer(server, options)
  expect(await problemsOf(document)).toEqual([])
  return document
}

type Verb = 'get' | 'post' | 'put' | 'delete'

/** The description of one route: each status with the target of its reference. */
async function saidOf(verb: Verb, options: RouteOptions, plugins: object = {}, described?: { failures?: boolean }) {
  const server = makeServer(plugins)
  server[verb as 'post']('/', options as {}, handler)
  const { paths, components } = await documentOf(server, described)
  const answers = Object.entries(paths['/']![verb]!.responses)
  const names = answers.map(([status, one]) => ('$ref' in one ? `${status} ${one.$ref.split('/').at(-1)}` : status))
  expect(Object.keys(components?.responses ?? {}).sort()).toEqual(
    names.flatMap((name) => name.split(' ')[1] ?? []).sort(),
  )
  return names.filter((name) => name !== '200')
}

const ofBodies = ['400 BadRequest', '413 PayloadTooLarge', '415 UnsupportedMediaType']

describe('a route is described with the failures that it can have', () => {
  test.each<[string, Verb, RouteOptions, object, string[]]>([
    ['a GET has none', 'get', {}, {}, []],
    ['a DELETE has none', 'delete', {}, {}, []],
    ['what has a body may be unreadable, too large, and of another type', 'post', {}, {}, ofBodies],
    ['also as a form', 'put', {}, { json: false, urlencoded: true }, ofBodies],
    ['also as an upload', 'post', {}, { json: false, upload: true }, ofBodies],
    ['not where uploads are off', 'post', { upload: false }, { json: false, upload: true }, []],
    ['not where no one reads bodies', 'post', {}, { json: false }, []],
    ['not where the route reads them itself', 'post', { json: false, urlencoded: false }, { urlencoded: true }, []],
    ['but where it only has other limits', 'post', { json: { sizeLimit: '1mb' } }, {}, ofBodies],
    [
      'no parser reads them, but a schema requires one',
      'post',
      { body: filter },
      { json: false },
      ['415 UnsupportedMediaType', '422 ValidationError'],
    ],
    ['a schema of the body', 'post', { body: filter }, {}, [...ofBodies, '422 ValidationError']],
    ['also of a DELETE', 'delete', { body: filter }, {}, [...ofBodies, '422 ValidationError']],
    ['a schema of the query', 'get', { query: filter }, {}, ['400 BadRequest', '422 ValidationError']],
    ['a schema of headers', 'get', { headers: filter }, {}, ['422 ValidationError']],
    ['a schema of all', 'delete', { all: filter }, {}, ['400 BadRequest', '422 ValidationError']],
    ['a policy', 'get', { policy: always }, {}, ['401 Unauthorized']],
    ['a rate limit', 'get', {}, { rateLimit: true }, ['429 TooManyRequests']],
    ['of another status', 'get', {}, { rateLimit: { statusCode: 420 } }, ['420 TooManyRequests']],
    ['of the route', 'get', { rateLimit: { statusCode: 503 } }, { rateLimit: true }, ['503 TooManyRequests']],
    ['from which the route is free', 'get', { rateLimit: false }, { rateLimit: true }, []],
    [
      'what the route says of a status holds',
      'post',
      { responses: { 400: text }, apidoc: { responses: { 413: { description: 'Too much' } } } },
      {},
      ['400', '413', '415 UnsupportedMediaType'],
    ],
  ])('%s', async (_what, verb, options, plugins, expected) => {
    expect(await saidOf(verb, options, plugins)).toEqual(expected)
    expect(await saidOf(verb, options, plugins, { failures: false })).toEqual(
      expected.filter((one) => !one.includes(' ')),
    )
  })

  test('only the responses of the plugins around it', async () => {
    const inside = definePlugin({
      name: 'inside',
      scoped: true,
      async setup(ctx) {
        const { rateLimit } = await import('framework/plugins')
        ctx.register(rateLimit())
        ctx.get('/inside', handler)
      },
    })
    const server = makeServer({ inside: inside() })
    server.get('/outside', handler)
    await server.ready()
    const { paths } = await documentOf(server)
    expect(Object.keys(paths['/inside']!.get!.responses)).toEqual(['200', '429'])
    expect(Object.keys(paths['/outside']!.get!.responses)).toEqual(['200'])
    await server.close()
  })
})

test('the responses match the description', async () => {
  const server = makeServer({ rateLimit: { limit: 20 }, json: { sizeLimit: 100 }, upload: { maxFileSize: 5 } })
  server.get('/limited', { rateLimit: { limit: 1 } }, handler)
  server.get('/denied', { policy: never }, handler)
  server.get('/search', { query: filter }, handler)
  server.post('/books', { body: z.object({ title: z.string() }) }, handler)
  server.post('/covers', { upload: { maxFiles: 1 } }, handler)
  const document = await documentOf(server)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'doc:', ...document })
  const { inject } = server
  const json = { 'content-type': 'application/json' }
  const big = new FormData()
  big.append('cover', new Blob(['much more']), 'cover.png')
  const asked: [
    path: string,
    method: 'get' | 'post',
    status: number,
    response: Awaited<ReturnType<typeof inject.get>>,
  ][] = [
    ['/denied', 'get', 401, await inject.get('/denied')],
    ['/search', 'get', 400, await inject.get(`/search?${'a=1&'.repeat(1_001)}`)],
    ['/search', 'get', 422, await inject.get('/search?a=x')],
    ['/books', 'post', 400, await inject.post('/books', { body: '{', headers: json })],
    ['/books', 'post', 413, await inject.post('/books', { body: { title: 'a'.repeat(100) } })],
    ['/books', 'post', 415, await inject.post('/books', { body: '<a/>', headers: { 'content-type': 'text/xml' } })],
    ['/books', 'post', 422, await inject.post('/books', { body: {} })],
    ['/covers', 'post', 413, await inject.post('/covers', { formData: big as never })],
    [
      '/covers',
      'post',
      400,
      await inject.post('/covers', { body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
    ],
    ['/limited', 'get', 200, await inject.get('/limited')],
    ['/limited', 'get', 429, await inject.get('/limited')],
  ]
  for (const [path, method, status, response] of asked) {
    expect([path, response.statusCode()]).toEqual([path, status])
    if (status === 200) continue
    const { $ref } = document.paths[path]![method]!.responses[status] as { $ref: string }
    const name = $ref.split('/').at(-1)!
    const schema = { $ref: `doc:#/components/responses/${name}/content/application~1json/schema` }
    expect([path, status, ajv.validate(schema, response.body()), ajv.errorsText()]).toEqual([
      path,
      status,
      true,
      'No errors',
    ])
    expect(String(response.headers()['content-type'])).toMatch(/^application\/json\b/)
  }
  expect(document.components?.schemas?.Failure).toEqual({
    type: 'object',
    properties: { code: { type: 'string', description: 'The name of the error.' }, message: text },
    required: ['code', 'message'],
  })
  await server.close()
})

test('a schema of the application that is called Failure keeps its name', async () => {
  const Failure = z.object({ reason: z.string() }).meta({ id: 'Failure' })
  const server = makeServer()
  server.post('/', { responses: { 409: Failure } }, handler)
  const { components } = await documentOf(server)
  expect(Object.keys(components!.schemas!)).toEqual(['Failure', 'Failure2'])
  expect(components!.responses!.BadRequest).toMatchObject({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure2' } } },
  })
})

test('the application describes failures that its own handlers answer', async () => {
  const server = makeServer()
  server.post('/', { body: filter, policy: always }, handler)
  const own = {
    Unauthorized: { description: 'Sign in' },
    ValidationError: { description: 'No', content: { 'text/plain': {} } },
  }
  const { components } = await documentOf(server, { components: { responses: own } })
  expect(components?.responses).toMatchObject(own)
  expect(components?.responses?.Unauthorized).toEqual(own.Unauthorized)
})

describe('plugins say how they fail', () => {
  const quota = definePlugin({
    name: 'quota',
    openapi: {
      components: { responses: { Exhausted: { description: 'No quota is left.' }, Unused: { description: 'Never' } } },
      failures: ({ options, settings, method, path }) => ({
        402: (options as { quota?: number }).quota === undefined ? undefined : 'Exhausted',
        ...(method === 'GET' && path === '/a' && (settings as { strict: boolean }).strict && { 401: 'Exhausted' }),
      }),
    },
    setup: (_ctx, _options: { strict: boolean }) => {},
  })

  test('by method, path, options of the route and their own; the body is that of every failure', async () => {
    const server = makeServer({ quota: quota({ strict: true }) })
    server.get('/a', { policy: always } as {}, handler)
    server.get('/b', { quota: 1 } as {}, handler)
    const { paths, components } = await documentOf(server)
    const body = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } }
    expect(components?.responses).toEqual({
      Exhausted: { description: 'No quota is left.', content: body },
      Unused: { description: 'Never' },
    })
    expect(paths['/b']?.get?.responses[402]).toEqual({ $ref: '#/components/responses/Exhausted' })
    expect(paths['/a']!.get!.responses[401]).toMatchObject({
      description: 'A policy rejected the caller. No quota is left.',
      content: {
        'application/json': {
          schema: { anyOf: [{ required: ['error'] }, { $ref: '#/components/schemas/Failure' }] },
        },
      },
    })
  })

  test('the additions of a plugin to a route do not remove its own options', async () => {
    const adds = definePlugin({ name: 'adds', openapi: { describe: () => [{ headers: filter }] } })
    const server = makeServer({ rateLimit: true, adds: adds() })
    server.get('/', { rateLimit: false }, handler)
    expect(Object.keys((await documentOf(server)).paths['/']!.get!.responses)).toEqual(['200', '422'])
    server.get('/b', handler)
    expect(Object.keys((await documentOf(server)).paths['/b']!.get!.responses)).toEqual(['200', '422', '429'])
  })

  test('two of one status are one response, whose body is said once', async () => {
    const one = definePlugin({ name: 'one', openapi: { failures: () => ({ 429: 'BadRequest' }) } })
    const server = makeServer({ rateLimit: true, one: one() })
    server.get('/', handler)
    const { responses } = (await documentOf(server)).paths['/']!.get!
    expect(responses[429]).toEqual({
      description: expect.stringMatching(/^The caller sends too many requests\. The request cannot be read: .*\.$/),
      headers: { 'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } } },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
    })
  })

  test.each<[string, unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
      'the plugin "odd" failed to describe its failures: no idea',
    ],
    ['is not an object', () => 5, 'the description that the plugin "odd" gives of its failures is not an object'],
    [
      'names nothing',
      () => ({ 402: 'Nothing' }),
      'the plugin "odd" describes its response 402 as "Nothing", which is not a response',
    ],
    [
      'names what every object has',
      () => ({ 402: 'constructor' }),
      'the plugin "odd" describes its response 402 as "constructor", which is not a response',
    ],
    [
      'is not a failure',
      () => ({ 200: 'BadRequest' }),
      'the plugin "odd" describes its response 200 as "BadRequest", which is not a response',
    ],
    [
      'is not a name',
      () => ({ 402: {} }),
      'the plugin "odd" describes its response 402 as {}, which is not a response',
    ],
  ])('one that %s is reported, and the document stays valid', async (_what, failures, note) => {
    const logger = memoryLogger()
    const odd = definePlugin({ name: 'odd', openapi: { failures: failures as never } })
    const server = new Server({ router: new RouteCollection(), logger, plugins: { openapi: true, odd: odd() } as {} })
    server.get('/a', handler)
    await server.ready()
    const document = server.services.get('openapi').document()
    expect(await problemsOf(document)).toEqual([])
    expect(Object.keys(document.paths['/a']!.get!.responses)).toEqual(['200'])
    expect(logger.entries.map(({ message }) => message)).toContain(`the description of GET /a is incomplete: ${note}`)
    await server.close()
  })
})

test('a wrong option is refused', () => {
  expect(() => makeServer({ openapi: { failures: 'no' } })).toThrow('"plugins.openapi.failures" is "no"')
})

test('GraphQL describes itself; a description of its route is used', async () => {
  const schema = { typeDefs: 'type Query { hello: String }' }
  const plain = makeServer({ graphql: { schema } })
  const described = makeServer({ graphql: { schema, route: { apidoc: { summary: 'Queries' } } } })
  await Promise.all([plain.ready(), described.ready()])
  expect(Object.keys((await documentOf(plain)).paths)).not.toContain('/graphql')
  expect((await documentOf(described)).paths['/graphql']!.post).toMatchObject({ summary: 'Queries' })
  await Promise.all([plain.close(), described.close()])
})
