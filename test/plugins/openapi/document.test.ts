import {
  definePlugin,
  type OpenApiDocument,
  type OpenApiOperation,
  PolicyManager,
  RouteCollection,
  Server,
} from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'
import { problemsOf } from '../../support/openapi.ts'

function makeServer(plugins: object = {}): Server {
  return new Server({ router: new RouteCollection(), plugins: plugins as {} })
}

/** The description of a server, valid in every respect. */
async function documentOf(
  server: Server,
  options: Parameters<typeof describeServer>[1] = {},
): Promise<OpenApiDocument> {
  const document = describeServer(server, options)
  expect(await problemsOf(document)).toEqual([])
  return document
}

/** The one operation of a server with one route. */
async function operationOf(define: (server: Server) => void, plugins: object = {}): Promise<OpenApiOperation> {
  const server = makeServer(plugins)
  define(server)
  const { paths } = await documentOf(server)
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  expect(operations).toHaveLength(1)
  return operations[0]!
}

const text = { type: 'string' } as const
const handler = () => {}
const policies = new PolicyManager({ posts: { edit: () => true, 'read all': () => true }, site: { admin: () => true } })
const edit = { manager: policies, scope: 'posts', handler: 'edit' } as const
const admin = { manager: policies, scope: 'site', handler: 'admin' } as const

describe('paths', () => {
  test('parameters stand in braces, an optional one makes two paths, a wildcard is named', async () => {
    const server = makeServer()
    server.get('/users/:id', handler)
    server.get('/posts/:id?', handler)
    server.get('/files/*', handler)
    server.get('/a/:wildcard/*', handler)
    server.get('/', handler)
    server.group('/api/v1', (r) => r.get('/things/:x/:y?', handler))
    expect(Object.keys((await documentOf(server)).paths)).toEqual([
      '/users/{id}',
      '/posts/{id}',
      '/posts',
      '/files/{wildcard}',
      '/a/{wildcard}/{wildcard2}',
      '/',
      '/api/v1/things/{x}/{y}',
      '/api/v1/things/{x}',
    ])
  })

  test('methods that name a parameter differently share one path', async () => {
    const server = makeServer()
    server.get('/users/:id', { params: { type: 'object', properties: { id: { type: 'integer' } } } }, handler)
    server.put('/users/:name', { params: { type: 'object', properties: { name: text } } }, handler)
    server.delete('/users/*', handler)
    const { paths } = await documentOf(server)
    expect(Object.keys(paths)).toEqual(['/users/{id}'])
    expect(paths['/users/{id}']?.get?.parameters).toEqual([
      { name: 'id', in: 'path', schema: { type: 'integer' }, required: true },
    ])
    expect(paths['/users/{id}']?.put?.parameters).toEqual([{ name: 'id', in: 'path', schema: text, required: true }])
    expect(paths['/users/{id}']?.delete?.operationId).toBe('deleteUsersById')
  })

  test('of a parameter and a wildcard of one method, the first is described', async () => {
    const server = makeServer()
    server.get('/files/:id', { apidoc: { summary: 'one' } }, handler)
    server.get('/files/*', { apidoc: { summary: 'all' } }, handler)
    expect((await documentOf(server)).paths).toMatchObject({ '/files/{id}': { get: { summary: 'one' } } })
  })

  test('segments are written as a client sends them', async () => {
    const server = makeServer()
    for (const path of ['/a b', '/%7Bx%7D', '/ü', '/a%25b', "/it's:%281%29", '/__proto__/constructor', '/\ud800'])
      server.get(path, handler)
    expect(Object.keys((await documentOf(server)).paths)).toEqual([
      '/a%20b',
      '/%7Bx%7D',
      '/%C3%BC',
      '/a%25b',
      "/it's:(1)",
      '/__proto__/constructor',
      '/%EF%BF%BD',
    ])
  })

  test('any, HEAD and OPTIONS are described when they are registered, HEAD of GET is not', async () => {
    const server = makeServer()
    server.any('/all', handler)
    server.head('/head', handler)
    const { paths } = await documentOf(server)
    expect(Object.keys(paths['/all']!)).toEqual(['get', 'post', 'put', 'patch', 'delete', 'x-query', 'options'])
    expect(Object.keys(paths['/head']!)).toEqual(['head'])
  })
})

describe('ids and tags', () => {
  test('ids follow from method and path, are unique, and ids of the routes come first', async () => {
    const server = makeServer()
    server.get('/', handler)
    server.get('/users/:id', handler)
    server.get('/users-by/:id', handler)
    server.get('/users/by/:id', handler)
    server.get('/x', { apidoc: { operationId: 'getRoot' } }, handler)
    server.get('/posts/:id?', { apidoc: { operationId: 'find' } }, handler)
    server.any('/any', { apidoc: { operationId: 'same' } }, handler)
    const { paths } = await documentOf(server)
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
    expect(ids.slice(0, 7)).toEqual([
      'getRoot2',
      'getUsersById',
      'getUsersByById',
      'getUsersByById2',
      'getRoot',
      'find',
      'findWithoutId',
    ])
    expect(ids.slice(7)).toEqual(['same', 'same2', 'same3', 'same4', 'same5', 'same6', 'same7'])
  })

  test('the tag is the first word of the path that says something, unless the route names others', async () => {
    const server = makeServer({ health: true })
    server.get('/api/v1/users/:id', handler)
    server.get('/a%20b', handler)
    server.get('/:id', handler)
    server.get('/own', { apidoc: { tags: ['mine', 'yours'] } }, handler)
    server.get('/none', { apidoc: { tags: [] } }, handler)
    await server.ready()
    const { paths } = await documentOf(server, { tags: [{ name: 'users', description: 'People' }] })
    const tags = Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, item.get?.tags]))
    expect(tags).toEqual({
      '/api/v1/users/{id}': ['users'],
      '/a%20b': ['a b'],
      '/{id}': undefined,
      '/own': ['mine', 'yours'],
      '/none': [],
      '/health/live': ['health'],
      '/health/ready': ['health'],
    })
  })
})

describe('parameters', () => {
  test('a query schema is one parameter a property', async () => {
    const query = {
      type: 'object',
      properties: {
        q: { type: 'string', description: 'What', deprecated: true },
        page: { type: 'integer', default: 1 },
        ids: { type: 'array', items: { type: 'integer' } },
      },
      required: ['q', 'page'],
    } as const
    const { parameters } = await operationOf((server) => server.get('/', { query }, handler))
    expect(parameters).toEqual([
      { name: 'q', in: 'query', description: 'What', deprecated: true, schema: text, required: true },
      { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } },
      { name: 'ids', in: 'query', schema: { type: 'array', items: { type: 'integer' } } },
    ])
  })

  test('also after references, in combinations, and of Zod', async () => {
    const query = {
      $ref: '#/definitions/All',
      definitions: {
        All: { allOf: [{ type: 'object', properties: { a: text }, required: ['a'] }, { $ref: '#/definitions/B' }] },
        B: {
          anyOf: [
            { type: 'object', properties: { b: text, c: text }, required: ['b'] },
            { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
          ],
        },
      },
    }
    const described = await operationOf((server) => server.get('/', { query }, handler))
    expect(described.parameters).toEqual([
      { name: 'a', in: 'query', schema: text, required: true },
      { name: 'b', in: 'query', schema: { anyOf: [text, { type: 'integer' }] }, required: true },
      { name: 'c', in: 'query', schema: text },
    ])
    const Page = z.object({
      page: z.coerce.number().default(1),
      q: z.string().describe('What'),
      kind: z.enum(['a', 'b']).optional(),
    })
    const zod = await operationOf((server) => server.get('/', { query: Page }, handler))
    expect(zod.parameters?.map(({ name, required, description }) => [name, required, description])).toEqual([
      ['page', undefined, undefined],
      ['q', true, 'What'],
      ['kind', undefined, undefined],
    ])
  })

  test('a query of any names is an object whose members are parameters', async () => {
    const free = await operationOf((server) =>
      server.get('/', { query: { type: 'object', additionalProperties: { type: 'integer' } } }, handler),
    )
    expect(free.parameters).toEqual([
      {
        name: 'query',
        in: 'query',
        style: 'form',
        explode: true,
        schema: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    ])
    const silent = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } }
    const unknown = await operationOf((server) => server.get('/', { query: silent }, handler))
    expect(unknown.parameters).toMatchObject([{ name: 'query', description: expect.stringContaining('acme') }])
  })

  test('headers are parameters, but for the three that OpenAPI describes elsewhere', async () => {
    const headers = {
      type: 'object',
      properties: { 'X-Key': text, Accept: text, 'content-type': text, Authorization: text },
      required: ['X-Key'],
    } as const
    const { parameters } = await operationOf((server) => server.get('/', { headers }, handler))
    expect(parameters).toEqual([{ name: 'X-Key', in: 'header', schema: text, required: true }])
  })

  test('an all schema is spread: headers by their names, the rest into the body, or the query where there is none', async () => {
    const all = {
      type: 'object',
      properties: { 'x-key': text, title: text, page: { type: 'integer' } },
      required: ['title', 'x-key'],
    } as const
    const post = await operationOf((server) => server.post('/', { all }, handler))
    expect(post.parameters).toEqual([{ name: 'x-key', in: 'header', schema: text }])
    expect(post.requestBody?.content['application/json']?.schema).toEqual({
      type: 'object',
      properties: { title: text, page: { type: 'integer' } },
      required: ['title'],
    })
    const remove = await operationOf((server) => server.delete('/', { all }, handler))
    expect(remove.parameters?.map((one) => `${one.in} ${one.name}`)).toEqual([
      'header x-key',
      'query title',
      'query page',
    ])
    expect(remove.requestBody).toBeUndefined()
  })
})

describe('bodies', () => {
  const body = { type: 'object', properties: { a: text } } as const

  test('in each form that the plugins around the route read', async () => {
    const json = await operationOf((server) => server.post('/', { body }, handler))
    expect(json.requestBody).toEqual({ required: true, content: { 'application/json': { schema: body } } })
    const forms = await operationOf((server) => server.post('/', { body }, handler), { urlencoded: true })
    expect(Object.keys(forms.requestBody!.content)).toEqual(['application/json', 'application/x-www-form-urlencoded'])
    const only = await operationOf((server) => server.post('/', { body }, handler), { urlencoded: true, json: false })
    expect(Object.keys(only.requestBody!.content)).toEqual(['application/x-www-form-urlencoded'])
  })

  test('as a form only where strings are enough for required members', async () => {
    const typesOf = async (schema: object, plugins: object = { urlencoded: true }) => {
      const { requestBody } = await operationOf((server) => server.post('/', { body: schema }, handler), plugins)
      return Object.keys(requestBody!.content)
    }
    const both = ['application/json', 'application/x-www-form-urlencoded']
    const needing = (a: object) => ({ type: 'object', properties: { a }, required: ['a'] })
    expect(await typesOf(needing({ type: 'integer' }))).toEqual(['application/json'])
    expect(await typesOf({ ...needing({ $ref: '#/$defs/n' }), $defs: { n: { type: 'object' } } })).toEqual([
      'application/json',
    ])
    expect(await typesOf(needing({ type: ['string', 'null'] }))).toEqual(both)
    expect(await typesOf(needing({ type: 'array', items: text }))).toEqual(both)
    expect(await typesOf(needing({ type: 'integer', default: 1 }))).toEqual(both)
    expect(await typesOf(needing({ enum: ['a'] }))).toEqual(both)
    expect(await typesOf(needing({ anyOf: [{ type: 'integer' }, { const: 'all' }] }))).toEqual(both)
    for (const schema of [
      { type: 'array', items: text },
      { type: 'string' },
      needing({ const: 5 }),
      needing({ enum: [1, 2] }),
      needing({ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }),
      needing({ allOf: [{}, { oneOf: [{ type: 'null' }] }] }),
      needing({ type: 'array', items: { type: 'integer' } }),
    ])
      expect([schema, await typesOf(schema)]).toEqual([schema, ['application/json']])
    expect(await typesOf(z.object({ a: z.coerce.number() }))).toEqual(both)
    expect(await typesOf(needing({ type: 'integer' }), { urlencoded: true, json: false })).toEqual(both.slice(1))
  })

  test('a form whose fields are all named takes files beside them', async () => {
    const closed = { ...body, additionalProperties: false }
    const { requestBody } = await operationOf((server) => server.post('/', { body: closed, upload: {} }, handler), {
      upload: true,
    })
    expect(requestBody?.content['multipart/form-data']?.schema).toMatchObject({
      allOf: [body, { properties: { files: {} } }],
    })
    expect(JSON.stringify(requestBody)).not.toContain('additionalProperties')
  })

  test('a route with uploads takes a form with files', async () => {
    const { requestBody } = await operationOf(
      (server) => server.post('/', { body, upload: { maxFiles: 2 } }, handler),
      { upload: true },
    )
    expect(requestBody).toMatchObject({
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            allOf: [body, { properties: { files: { type: 'array', maxItems: 2, items: { format: 'binary' } } } }],
          },
        },
      },
    })
    const none = await operationOf((server) => server.post('/', { upload: false }, handler), { upload: true })
    expect(none.requestBody).toBeUndefined()
  })

  test('one that may be left out is not required', async () => {
    const { requestBody } = await operationOf((server) => server.post('/', { body: z.object({}).optional() }, handler))
    expect(requestBody?.required).toBeUndefined()
  })
})

describe('answers', () => {
  test('by status, in words, without a body where there is none', async () => {
    const { responses } = await operationOf((server) =>
      server.delete('/', { responses: { 201: text, 204: text, 404: text } }, handler),
    )
    const content = { 'application/json': { schema: text } }
    expect(responses).toEqual({
      201: { description: 'Created', content },
      204: { description: 'No Content' },
      404: { description: 'Not Found', content },
    })
  })

  test('a route that declares none answers 200', async () => {
    expect((await operationOf((server) => server.get('/', handler))).responses).toEqual({ 200: { description: 'OK' } })
    const failing = await operationOf((server) => server.get('/', { responses: { 404: text } }, handler))
    expect(Object.keys(failing.responses)).toEqual(['200', '404'])
  })
})

describe('security', () => {
  test('all policies ask for one credential, and name the roles that it must have', async () => {
    const server = makeServer()
    server.get('/a', { policy: [edit, admin] }, handler)
    server.get('/b', { policy: { manager: policies, scope: 'posts', handler: 'read all' } }, handler)
    server.get('/c', handler)
    const { paths, components } = await documentOf(server)
    expect(paths['/a']?.get?.security).toEqual([{ credential: ['posts.edit', 'site.admin'] }])
    expect(paths['/b']?.get?.security).toEqual([{ credential: ['posts.read all'] }])
    expect(paths['/c']?.get?.security).toBeUndefined()
    expect(components?.securitySchemes).toEqual({
      credential: { type: 'http', scheme: 'bearer', description: expect.stringContaining('Identifies the caller') },
    })
  })

  test('the application defines that credential', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://a.test', scopes: {} } }
    for (const [scheme, roles] of [
      [{ type: 'apiKey', name: 'sid', in: 'cookie' }, ['posts.edit']],
      [{ type: 'oauth2', flows }, []],
    ] as const) {
      const server = makeServer()
      server.get('/a', { policy: edit }, handler)
      const options = { security: [{ key: [] }], components: { securitySchemes: { credential: scheme } } }
      const { paths, components } = await documentOf(server, options)
      expect(paths['/a']?.get?.security).toEqual([{ key: [], credential: roles }])
      expect(components?.securitySchemes?.credential).toEqual(scheme)
    }
    // Where it defines how every caller authenticates, policies need no other scheme.
    const server = makeServer()
    server.get('/a', { policy: [edit, admin] }, handler)
    const { paths, components } = await documentOf(server, { security: [{ token: [] }] })
    expect(paths['/a']?.get?.security).toEqual([{ token: [] }])
    expect(Object.keys(components?.securitySchemes ?? {})).toEqual(['token'])
  })

  test('in addition to the security of every operation; the application defines a scheme, and a route none', async () => {
    const server = makeServer()
    server.get('/a', { policy: edit }, handler)
    server.get('/open', { apidoc: { security: [] } }, handler)
    const key = { type: 'apiKey', name: 'x-key', in: 'header' }
    const document = await documentOf(server, {
      security: [{ key: [] }, { token: [] }],
      components: { securitySchemes: { key, 'posts.edit': key } },
    })
    expect(document.paths['/a']?.get?.security).toEqual([
      { key: [], 'posts.edit': [] },
      { token: [], 'posts.edit': [] },
    ])
    expect(document.paths['/open']?.get?.security).toEqual([])
    expect(document.components?.securitySchemes).toEqual({
      key,
      'posts.edit': key,
      token: { type: 'http', scheme: 'bearer' },
    })
  })
})

describe('apidoc', () => {
  test('is merged over the parts from the schemas', async () => {
    const operation = await operationOf((server) =>
      server.post(
        '/users/:id',
        {
          query: { type: 'object', properties: { page: { type: 'integer' } } },
          body: { type: 'object' },
          responses: { 201: text },
          apidoc: {
            summary: 'Add',
            description: 'Adds **one**',
            deprecated: true,
            externalDocs: { url: 'https://a.test' },
            'x-internal': { a: 1 },
            parameters: [
              { name: 'page', in: 'query', description: 'Which' },
              { name: 'id', in: 'path', description: 'Who', schema: { type: 'integer' } },
              { name: 'X-Trace', in: 'header' },
              { name: 'nobody', in: 'path' },
            ],
            requestBody: { description: 'The new one', content: { 'text/csv': { schema: text } } },
            responses: {
              201: { description: 'Added', headers: { Location: { description: 'Where' } } },
              404: z.object({ error: z.string() }),
              409: { description: 'Taken', content: { 'application/problem+json': { schema: z.string() } } },
              '5xx': { description: 'Broken' },
              default: { schema: text },
            },
          },
        },
        handler,
      ),
    )
    expect(operation).toEqual({
      operationId: 'postUsersById',
      tags: ['users'],
      summary: 'Add',
      description: 'Adds **one**',
      deprecated: true,
      externalDocs: { url: 'https://a.test' },
      'x-internal': { a: 1 },
      parameters: [
        { name: 'id', in: 'path', description: 'Who', schema: { type: 'integer' }, required: true },
        { name: 'page', in: 'query', description: 'Which', schema: { type: 'integer' } },
        { name: 'X-Trace', in: 'header', schema: text },
      ],
      requestBody: {
        required: true,
        description: 'The new one',
        content: { 'application/json': { schema: { type: 'object' } }, 'text/csv': { schema: text } },
      },
      responses: {
        201: {
          description: 'Added',
          headers: { Location: { description: 'Where', schema: text } },
          content: { 'application/json': { schema: text } },
        },
        400: { $ref: '#/components/responses/BadRequest' },
        404: {
          description: 'Not Found',
          content: {
            'application/json': { schema: { type: 'object', properties: { error: text }, required: ['error'] } },
          },
        },
        409: { description: 'Taken', content: { 'application/problem+json': { schema: text } } },
        413: { $ref: '#/components/responses/PayloadTooLarge' },
        415: { $ref: '#/components/responses/UnsupportedMediaType' },
        422: { $ref: '#/components/responses/ValidationError' },
        '5XX': { description: 'Broken' },
        default: { description: 'Any other response', content: { 'application/json': { schema: text } } },
      },
    })
  })

  test('false leaves the route out, and so does the option include', async () => {
    const server = makeServer({ health: true })
    server.get('/shown', handler)
    server.get('/hidden', { apidoc: false }, handler)
    server.get('/admin/x', handler)
    await server.ready()
    const document = await documentOf(server, {
      include: ({ path, plugin }) => plugin === 'application' && !path.startsWith('/admin'),
    })
    expect(Object.keys(document.paths)).toEqual(['/shown'])
  })

  test('the older form of a route, the last argument, is taken', async () => {
    const operation = await operationOf((server) => server.get('/', [], handler, { summary: 'old' }))
    expect(operation.summary).toBe('old')
  })

  test('of the wrong form it is left out, and the document stays valid', async () => {
    const apidoc = {
      summary: 5,
      tags: 'x',
      servers: [{}],
      security: [{ a: 'b' }],
      externalDocs: {},
      parameters: [
        null,
        { name: 'a' },
        { in: 'query' },
        { name: 'b', in: 'nowhere' },
        { name: 'ok', in: 'query', schema: 5 },
      ],
      requestBody: { $ref: '#/components/requestBodies/None' },
      responses: {
        99: text,
        teapot: text,
        200: null,
        404: { $ref: '#/components/responses/None' },
        409: { $ref: '#/components/schemas/None' },
      },
      unknown: 1,
    }
    const operation = await operationOf((server) => server.get('/', { apidoc: apidoc as never }, handler))
    expect(operation).toEqual({
      operationId: 'getRoot',
      parameters: [{ name: 'ok', in: 'query', schema: { description: 'Not described: it is not a schema.' } }],
      responses: {
        200: { description: 'OK' },
        404: { description: 'Not Found' },
        409: {
          description: 'Conflict',
          content: { 'application/json': { schema: { description: 'Not described: there is no component "None".' } } },
        },
      },
    })
  })
})

describe('the parts around the paths', () => {
  test('info, servers, components and external docs of the options', async () => {
    const server = makeServer()
    const User = { type: 'object', properties: { name: text } } as const
    server.get(
      '/',
      { responses: { 200: User }, apidoc: { responses: { 404: { $ref: '#/components/responses/Gone' } } } },
      handler as never,
    )
    const document = await documentOf(server, {
      info: { title: 'Users', license: { name: 'MIT' } },
      servers: [{ url: 'https://a.test' }],
      externalDocs: { url: 'https://b.test' },
      components: { schemas: { Person: User }, responses: { Gone: { description: 'gone' } } },
    })
    expect(document).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'Users', version: '1.0.0', license: { name: 'MIT' } },
      servers: [{ url: 'https://a.test' }],
      externalDocs: { url: 'https://b.test' },
      components: { schemas: { Person: User }, responses: { Gone: { description: 'gone' } } },
    })
    expect(document.paths['/']?.get?.responses['200']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Person' } } },
    })
  })

  test('of the wrong form they are refused, all at once', () => {
    const wrong = {
      info: { title: 'T', version: 5, license: {}, contact: { url: 'a b' } },
      servers: [{ url: 5 }],
      security: [{ 'a b': [] }],
      tags: [{ name: 'a', other: 1 }],
      externalDocs: { url: ' ' },
      components: { schemas: { 'a b': {}, Fine: { type: 'string' } }, models: { A: {} }, responses: { é: {} } },
    }
    const error = (() => {
      try {
        return describeServer(makeServer(), wrong as never)
      } catch (reason) {
        return reason
      }
    })() as Error
    expect(error.message.split('\n').map((line) => /"describeServer\.([^"]+)"/.exec(line)?.[1])).toEqual([
      undefined,
      ...['info.version', 'info.contact.url', 'info.license.name', 'servers[0].url', 'security[0]', 'tags[0].other'],
      ...['externalDocs.url', 'components.schemas', 'components.responses', 'components.models'],
    ])
  })

  test('definitions of plugins add tags and components, and translate their own route options', async () => {
    const quota = definePlugin({
      name: 'quota',
      openapi: {
        tags: [{ name: 'quota', description: 'Limits' }],
        components: { responses: { Exhausted: { description: 'No quota is left.' } } },
        describe: (options) =>
          (options as { quota?: number }).quota === undefined
            ? []
            : [
                {
                  apidoc: { description: 'Counted.', responses: { 402: { $ref: '#/components/responses/Exhausted' } } },
                },
              ],
      },
    })
    const server = makeServer([quota()])
    server.get('/a', { quota: 5, apidoc: { description: 'Mine.' } } as {}, handler)
    server.get('/b', handler)
    const document = await documentOf(server)
    expect(document.tags).toEqual([{ name: 'quota', description: 'Limits' }])
    expect(document.paths['/a']?.get).toMatchObject({
      description: 'Mine.',
      responses: { 402: { $ref: '#/components/responses/Exhausted' } },
    })
    expect(Object.keys(document.paths['/b']!.get!.responses)).toEqual(['200'])
  })

  test.each([
    [{ components: { schemas: { 'a b': {} } } }, 'components.schemas has the name "a b"'],
    [{ components: { responses: { é: {} } } }, 'components.responses has the name "é"'],
    [{ components: { models: {} } }, 'no components of the kind "models"'],
    [{ components: JSON.parse('{ "__proto__": {} }') as object }, 'no components of the kind "__proto__"'],
    [{ components: { schemas: 5 } }, 'components.schemas are not an object'],
    [{ components: { headers: { a: null } } }, 'components.headers.a is not an object'],
    [{ components: null }, 'components are not an object'],
    [{ tags: [null] }, 'tags are not a list'],
    [{ tags: [{ name: 5 }] }, 'tags are not a list'],
    [{ describe: 5 }, 'describe is not a function'],
    [{ failures: {} }, 'failures is not a function'],
    [5, 'openapi is not an object'],
    [{ tag: [] }, '"openapi.tag" is not a member. Did you mean "tags"? It takes tags, components, describe, failures'],
  ])('a plugin that describes what no document can hold fails the boot: %j', async (fragment, why) => {
    const server = makeServer({ openapi: true, quota: definePlugin({ name: 'quota', openapi: fragment as never })() })
    const failed = await server.ready().catch((error: Error) => error)
    expect(failed).toMatchObject({ cause: { code: 'OpenApiFragmentError' } })
    expect((failed as Error).message).toContain('the plugin "quota" has an invalid description: ')
    expect((failed as Error).message).toContain(why)
    await server.close()
  })

  test('one that fails to describe a route is reported with the route, which stays in the document', async () => {
    const logger = memoryLogger()
    const broken = definePlugin({
      name: 'broken',
      openapi: {
        describe: () => {
          throw new Error('no idea')
        },
      },
    })
    const wrong = definePlugin({ name: 'wrong', openapi: { describe: () => [null] as never } })
    const server = new Server({
      router: new RouteCollection(),
      logger,
      plugins: { openapi: true, broken: broken(), wrong: wrong() } as {},
    })
    server.get('/a', handler)
    await server.ready()
    expect(Object.keys(server.services.get('openapi').document().paths)).toEqual(['/a'])
    const reports = logger.entries.map(({ message }) => message)
    expect(reports).toContainEqual(
      'the description of GET /a is incomplete: the plugin "broken" failed to describe it: no idea',
    )
    expect(reports).toContainEqual(
      'the description of GET /a is incomplete: the description that the plugin "wrong" gives of it is not a list of route options',
    )
    await server.close()
  })

  test('plugins that contradict each other fail the boot, unless the application decides', async () => {
    const one = definePlugin({ name: 'one', openapi: { tags: [{ name: 'a', description: 'one' }] } })
    const two = definePlugin({ name: 'two', openapi: { tags: [{ name: 'a', description: 'two' }] } })
    const server = makeServer({ openapi: true, one: one(), two: two() })
    await expect(server.ready()).rejects.toThrow('the plugins "one" and "two" describe the tag "a" differently')
    await server.close()
    const settled = makeServer({ openapi: { tags: [{ name: 'a' }] }, one: one(), two: two() })
    await settled.ready()
    expect(settled.services.get('openapi').document().tags).toEqual([{ name: 'a' }])
    await settled.close()
  })
})

test('before boot the routes of the application are described, afterwards those of plugins too', async () => {
  const server = makeServer({ health: true })
  server.get('/own', handler)
  server.router.get('/mounted', handler)
  expect(Object.keys((await documentOf(server)).paths)).toEqual(['/own', '/mounted'])
  await server.ready()
  expect(Object.keys((await documentOf(server)).paths)).toEqual(['/own', '/health/live', '/health/ready', '/mounted'])
  await server.close()
})

test('a description is made anew for each server and leaves the options as they are', async () => {
  const options = Object.freeze({ body: Object.freeze({ type: 'object', $defs: Object.freeze({}) }) })
  const server = makeServer()
  server.post('/', options, handler)
  expect(await documentOf(server)).toEqual(await documentOf(server))
})
