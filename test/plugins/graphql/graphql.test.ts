import { PolicyManager, RouteCollection, Server } from 'framework'
import { cache } from 'framework/plugins/cache'
import { graphql } from 'framework/plugins/graphql'
import { GraphQLError } from 'graphql'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { setExposure } from '../../../plugins/shared/failures/formatted-failures.ts'
import { graphqlApp, exampleSchema as schema } from '../../support/graphql.ts'

const response = 'application/graphql-response+json'
const env = process.env.NODE_ENV
afterEach(() => {
  process.env.NODE_ENV = env
  setExposure(false)
})

describe('one request', () => {
  const { post, get } = graphqlApp({ schema })

  test('a query by POST and by GET', async () => {
    const body = { data: { hello: 'hello Ada' } }
    const variables = { name: 'Ada' }
    const query = 'query Hello($name: String) { hello(name: $name) }'
    expect(await post({ query, variables, operationName: 'Hello' })).toMatchObject({ status: 200, body })
    expect(await get({ query, variables: JSON.stringify(variables) })).toMatchObject({ status: 200, body })
  })

  test('asynchronous resolvers, lists, unions and mutations', async () => {
    const query = '{ later numbers search { __typename ... on Item { name } ... on Other { size } } }'
    expect((await post({ query })).body).toEqual({
      data: {
        later: 'later',
        numbers: [1, 2, 3],
        search: [
          { __typename: 'Item', name: 'found' },
          { __typename: 'Other', size: 3 },
        ],
      },
    })
    expect((await post({ query: 'mutation { set(to: 4) }' })).body).toEqual({ data: { set: 4 } })
  })

  test('one of several operations is named', async () => {
    const query = 'query A { hello } query B { numbers }'
    expect((await post({ query, operationName: 'B' })).body).toEqual({ data: { numbers: [1, 2, 3] } })
    for (const operationName of [undefined, 'C', '__proto__']) {
      const { body } = await post({ query, operationName })
      expect(body.errors[0].extensions.code).toBe('OPERATION_RESOLUTION_FAILURE')
    }
  })

  test.each<[string, unknown, RegExp]>([
    ['no query', {}, /query is missing/],
    ['null', { query: null }, /query is missing/],
    ['a query that is not a string', { query: ['{ hello }'] }, /query must be a string/],
    ['an operationName that is not a string', { query: '{ hello }', operationName: 1 }, /operationName/],
    ['variables that are a list', { query: '{ hello }', variables: [] }, /variables must be an object/],
    ['variables that are text', { query: '{ hello }', variables: '{}' }, /variables must be an object/],
    ['extensions that are text', { query: '{ hello }', extensions: 'x' }, /extensions/],
    ['a batch', Array.from({ length: 1000 }, () => ({ query: '{ hello }' })), /Several operations in one request/],
    ['a string', '"{ hello }"', /not a JSON object/],
  ])('400 for %s', async (_, body, message) => {
    const answer = await post(body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors).toEqual([
      { message: expect.stringMatching(message), extensions: { code: 'BAD_REQUEST' } },
    ])
  })

  test.each([
    ['variables that are not JSON', { query: '{ hello }', variables: '{' }],
    ['variables with a prototype', { query: '{ hello }', variables: '{"__proto__":{"a":1}}' }],
    ['extensions that are a number', { query: '{ hello }', extensions: '1' }],
    ['a repeated parameter', { query: ['{ hello }', '{ numbers }'] }],
    ['repeated variables', { query: '{ hello }', variables: ['{}', '{}'] }],
  ])('400 for a GET with %s', async (_, query) => {
    expect((await get(query as Record<string, string>)).status).toBe(400)
  })

  test('a mutation by GET is 405, and nothing happens', async () => {
    const answer = await get({ query: 'mutation { set(to: 1) }' })
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  })

  test('other methods are 405 by the routes', async () => {
    const { server } = graphqlApp({ schema })
    const res = await server.inject.put('/graphql', { body: {} })
    res.assertStatus(405).assertHeader('allow', 'GET, POST')
  })

  test.each<[string, string | undefined, number, string]>([
    ['nothing', undefined, 200, 'application/json; charset=utf-8'],
    ['nothing, in an empty header', '', 200, 'application/json; charset=utf-8'],
    ['anything', '*/*', 200, 'application/json; charset=utf-8'],
    ['the new type', response, 400, `${response}; charset=utf-8`],
    ['the new type rather', `application/json;q=0.5, ${response}`, 400, `${response}; charset=utf-8`],
    ['json rather', `application/json, ${response};q=0.5`, 200, 'application/json; charset=utf-8'],
    ['json with a charset', 'application/json; charset=UTF-8', 200, 'application/json; charset=utf-8'],
    ['a whole family', 'application/*', 200, 'application/json; charset=utf-8'],
  ])('a client that accepts %s', async (_, accept, status, type) => {
    const answer = await post({ query: '{ unknown }' }, accept === undefined ? {} : { accept })
    expect(answer).toMatchObject({ status, headers: { 'content-type': type } })
  })

  test.each(['image/png', 'application/json;q=0', 'application/json; charset=latin1'])('406 for %s', async (accept) => {
    expect((await post({ query: '{ hello }' }, { accept })).status).toBe(406)
  })

  test('variables that do not fit: 400 for the new type, 200 for the old, and never a 500', async () => {
    const asked = { query: 'query ($id: ID!) { item(id: $id) { id } }', variables: { id: {} } }
    const old = await post(asked)
    expect(old.status).toBe(200)
    expect(old.body.errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
    expect('data' in old.body).toBe(false)
    expect((await post(asked, { accept: response })).status).toBe(400)
  })

  test('a GET is not to be kept, a HEAD has no body', async () => {
    expect((await get({ query: '{ hello }' })).headers['cache-control']).toBe('no-store')
    const { server } = graphqlApp({ schema })
    const head = await server.inject.request('HEAD', '/graphql', {
      query: { query: '{ hello }' },
      headers: { 'graphql-require-preflight': '1' },
    })
    expect([head.statusCode(), head.text()]).toEqual([200, ''])
  })
})

describe('requests of foreign pages', () => {
  const app = graphqlApp({ schema })

  test.each([
    'apollo-require-preflight',
    'x-apollo-operation-name',
    'graphql-require-preflight',
  ])('a GET passes with %s', async (name) => {
    expect((await app.get({ query: '{ hello }' }, { [name]: 'x' })).status).toBe(200)
    expect((await app.get({ query: '{ hello }' }, { [name]: '' })).status).toBe(400)
  })

  test.each([
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'TEXT/PLAIN; a=application/json' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'nonsense' },
  ] as Record<string, string>[])('a GET with %o does not', async (headers) => {
    expect((await app.get({ query: '{ hello }' }, headers)).status).toBe(400)
  })

  test('a GET that is typed as JSON passes', async () => {
    expect((await app.get({ query: '{ hello }' }, { 'content-type': 'application/json' })).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'application/xml',
    '',
  ])('a POST of %s is 415, also with the header', async (type) => {
    const headers = { 'content-type': type, 'graphql-require-preflight': '1' }
    const res = await app.server.inject.post('/graphql', { body: '{"query":"mutation { set(to: 1) }"}', headers })
    expect(res.statusCode()).toBe(415)
  })

  test('csrfPrevention: false', async () => {
    const { get } = graphqlApp({ schema, apolloOptions: { csrfPrevention: false } })
    expect((await get({ query: '{ hello }' }, {})).status).toBe(200)
  })
})

describe('introspection', () => {
  test.each([
    '{ __schema { types { name } } }',
    '{ __type(name: "Query") { name } }',
    '{ self { a: __schema { __typename } } }',
  ])('is refused in production: %s', async (query) => {
    process.env.NODE_ENV = 'production'
    const { post } = graphqlApp({ schema })
    const { body } = await post({ query })
    expect(body).not.toHaveProperty('data')
    expect(body.errors[0].message).toMatch(/introspection|Cannot query field/)
  })

  test('is answered elsewhere, and where it is wanted', async () => {
    const query = '{ __type(name: "Item") { name } __typename }'
    const data = { __type: { name: 'Item' }, __typename: 'Query' }
    expect((await graphqlApp({ schema }).post({ query })).body).toEqual({ data })
    process.env.NODE_ENV = 'production'
    expect((await graphqlApp({ schema, apolloOptions: { introspection: true } }).post({ query })).body).toEqual({
      data,
    })
  })

  test('where it is off, no error suggests other names; the type of an object may be queried', async () => {
    const { post } = graphqlApp({ schema, apolloOptions: { introspection: false } })
    const { body } = await post({ query: '{ hell item(id: 1) { nam } }' })
    expect(JSON.stringify(body)).not.toMatch(/did you mean|hello|name/i)
    const wrong = await post({
      query: 'query ($c: Color, $i: Input) { color(of: $c) echo(input: $i) }',
      variables: { c: 'RDE', i: { txt: 1 } },
    })
    expect(wrong.body.errors.length).toBeGreaterThan(1)
    expect(JSON.stringify(wrong.body)).not.toMatch(/did you mean|RED"/i)
    expect((await post({ query: '{ __typename }' })).body).toEqual({ data: { __typename: 'Query' } })
  })
})

describe('the context', () => {
  const typeDefs = 'type Query { who: String }'
  const resolvers = { Query: { who: (_: unknown, __: object, context: unknown) => (context as { who: string }).who } }

  test('is made from req and res, also asynchronously', async () => {
    const now = graphqlApp({
      schema: { typeDefs, resolvers },
      apolloOptions: { context: ({ req }) => ({ who: req.headers['x-who'] }) },
    })
    expect((await now.post({ query: '{ who }' }, { 'x-who': 'Ada' })).body).toEqual({ data: { who: 'Ada' } })
    const later = graphqlApp({
      schema: { typeDefs, resolvers },
      apolloOptions: { context: async ({ res }) => ({ who: typeof res.json }) },
    })
    expect((await later.post({ query: '{ who }' })).body).toEqual({ data: { who: 'function' } })
  })

  test('is req and res by default', async () => {
    const { post } = graphqlApp({
      schema: {
        typeDefs,
        resolvers: {
          Query: { who: (_: unknown, __: object, context: unknown) => Object.keys(context as object).join() },
        },
      },
    })
    expect((await post({ query: '{ who }' })).body).toEqual({ data: { who: 'req,res' } })
  })

  test.each([
    [
      'a throw',
      () => {
        throw new Error('secret')
      },
      500,
      'Internal server error',
    ],
    [
      'a rejection',
      async () => {
        throw new Error('secret')
      },
      500,
      'Internal server error',
    ],
    [
      'a GraphQLError',
      () => {
        const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } }
        throw new GraphQLError('not you', { extensions: { code: 'UNAUTHENTICATED', http } })
      },
      401,
      'not you',
    ],
  ])('%s responds without execution', async (_, context, status, message) => {
    const { post, log } = graphqlApp({ schema: { typeDefs, resolvers }, apolloOptions: { context } })
    const answer = await post({ query: '{ who }' })
    expect(answer.status).toBe(status)
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
    expect(answer.body.errors[0].message).toBe(message)
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(status === 500 ? 1 : 0)
  })

  test.each([
    ['an error of a file', async () => (await import('node:fs/promises')).readFile('/etc/no-such-secret')],
    ['undefined', () => Promise.reject()],
    [
      'null',
      () => {
        throw null
      },
    ],
    [
      'an object',
      () => {
        throw { path: 'secret', locations: 'secret', extensions: { secret: 1 } }
      },
    ],
  ])('a thrown %s shows the client nothing', async (_, context) => {
    const { post } = graphqlApp({ schema: { typeDefs, resolvers }, apolloOptions: { context } })
    expect(await post({ query: '{ who }' })).toMatchObject({
      status: 500,
      body: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
    })
    expect(JSON.stringify((await post({ query: '{ who }' })).body)).not.toContain('secret')
  })

  test('one that responds by itself ends the request', async () => {
    let ran = false
    const { post } = graphqlApp({
      schema: {
        typeDefs,
        resolvers: {
          Query: {
            who: () => {
              ran = true
            },
          },
        },
      },
      apolloOptions: { context: ({ res }) => res.unauthorized({ error: 'no' }) },
    })
    expect(await post({ query: '{ who }' })).toMatchObject({ status: 401, body: { error: 'no' } })
    expect(ran).toBe(false)
  })
})

describe('errors of resolvers', () => {
  test('are masked and logged once, with their path', async () => {
    const { post, log } = graphqlApp({ schema })
    const { body, status } = await post({ query: '{ hello fails item(id: 1) { broken } }' })
    expect(status).toBe(200)
    expect(body.data).toEqual({ hello: 'hello world', fails: null, item: null })
    expect(body.errors).toHaveLength(2)
    for (const error of body.errors) {
      expect(error).toMatchObject({ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } })
    }
    expect(JSON.stringify(body)).not.toMatch(/1234|secret|stack/)
    const errors = log.filter(({ level }) => level === 'error')
    expect(errors.map(({ fields }) => [fields.path, (fields.err as Error).message]).sort()).toEqual([
      ['fails', 'the password is 1234'],
      ['item.broken', 'broken in secret'],
    ])
    expect(errors[0]!.fields.reqId).toEqual(expect.any(String))
  })

  test('show everything while details are exposed', async () => {
    const { post } = graphqlApp({ schema }, { exposeErrorDetails: true })
    const { body } = await post({ query: '{ fails }' })
    expect(body.errors[0].message).toBe('the password is 1234')
    expect(body.errors[0].extensions.stack).toMatch(/^Error: the password/)
    // Never in production, whatever the option is.
    vi.stubEnv('NODE_ENV', 'production')
    const { body: hidden } = await post({ query: '{ fails }' })
    vi.unstubAllEnvs()
    expect(JSON.stringify(hidden)).not.toContain('password')
  })

  test('a null where none may be is the mistake of the server', async () => {
    const { post, log } = graphqlApp({ schema })
    const { body } = await post({ query: '{ nothing }' })
    expect(body).toMatchObject({ data: null, errors: [{ message: 'Internal server error', path: ['nothing'] }] })
    expect(log.some(({ fields }) => String((fields.err as Error)?.message).includes('non-nullable'))).toBe(true)
  })

  test('a GraphQLError keeps its message, its extensions, and its part of the response', async () => {
    const { post, log } = graphqlApp({
      schema: {
        typeDefs: 'type Query { a: String b: String }',
        resolvers: {
          Query: {
            a: () => {
              const http = { status: 402, headers: { 'x-price': '3' } }
              throw new GraphQLError('pay first', { extensions: { code: 'UNPAID', http } })
            },
            b: () => {
              throw 'a string with a secret'
            },
          },
        },
      },
    })
    const answer = await post({ query: '{ a b }' })
    expect(answer).toMatchObject({ status: 402, headers: { 'x-price': '3' } })
    expect(answer.body.errors[0]).toMatchObject({ message: 'pay first', extensions: { code: 'UNPAID' } })
    expect(answer.body.errors[0].extensions).not.toHaveProperty('http')
    expect(answer.body.errors[1].message).toBe('Internal server error')
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

describe('the pipeline of every route', () => {
  test('cors, timeout, rate limit and route options apply', async () => {
    const typeDefs = 'type Query { never: String hello: String }'
    const resolvers = { Query: { never: () => new Promise(() => {}), hello: () => 'x' } }
    const denied: string[] = []
    const { server, post } = graphqlApp(
      {
        schema: { typeDefs, resolvers },
        route: {
          middlewares: [
            (req, res, next) => {
              if (req.headers['x-key'] === 'k') return next()
              denied.push(req.method)
              return res.unauthorized()
            },
          ],
        },
      },
      { plugins: { cors: { origin: 'https://a.example' }, timeout: { ms: 50 }, rateLimit: { limit: 4 } } },
    )
    const key = { 'x-key': 'k', origin: 'https://a.example' }
    expect((await post({ query: '{ hello }' }, key)).headers['access-control-allow-origin']).toBe('https://a.example')
    expect((await post({ query: '{ hello }' })).status).toBe(401)
    expect(denied).toEqual(['POST'])
    expect((await post({ query: '{ never }' }, key)).status).toBe(503)
    expect((await post({ query: '{ hello }' }, key)).status).toBe(200)
    expect((await post({ query: '{ hello }' }, key)).status).toBe(429)
    await server.close()
  })

  test('a policy of the route', async () => {
    const manager = new PolicyManager(
      { api: { admin: (user?: { admin: boolean }) => user?.admin === true } },
      {
        user: (req) => ({ admin: req.headers['x-admin'] === 'yes' }),
      },
    )
    const route = { policy: { manager, scope: 'api', handler: 'admin' } } as const
    for (const given of [route, Object.create(route) as typeof route]) {
      const { post, get } = graphqlApp({ schema, route: given })
      expect(await post({ query: '{ hello }' })).toMatchObject({ status: 401, body: { error: 'Unauthorized' } })
      expect((await get({ query: '{ hello }' })).status).toBe(401)
      expect((await post({ query: '{ hello }' }, { 'x-admin': 'yes' })).status).toBe(200)
    }
  })

  test('below the prefix of a scope', async () => {
    const server = new Server({ router: new RouteCollection() }).register(graphql({ schema }), { prefix: '/api' })
    const asked = { body: { query: '{ hello }' } }
    expect((await server.inject.post('/api/graphql', asked)).body()).toEqual({ data: { hello: 'hello world' } })
    expect((await server.inject.post('/graphql', asked)).statusCode()).toBe(404)
    const page = await server.inject.get('/api/graphql/', { headers: { accept: 'text/html' } })
    const [, script] = /src="(assets\/page-[^"]+)"/.exec(page.text())!
    expect((await server.inject.get(`/api/graphql/${script}`)).statusCode()).toBe(200)
    await server.close()
  })

  test('the body limit of json holds', async () => {
    const { post } = graphqlApp({ schema }, { plugins: { json: { sizeLimit: 100 } } })
    expect((await post({ query: `{ hello ${' '.repeat(200)} }` })).status).toBe(413)
  })

  test('no response is kept, with the cache on', async () => {
    let runs = 0
    const { get } = graphqlApp(
      { schema: { typeDefs: 'type Query { n: Int }', resolvers: { Query: { n: () => ++runs } } } },
      { plugins: [cache()] },
    )
    expect((await get({ query: '{ n }' })).body).toEqual({ data: { n: 1 } })
    expect((await get({ query: '{ n }' })).body).toEqual({ data: { n: 2 } })
  })
})

describe('the forms it is given in', () => {
  const options = { schema: { typeDefs: 'type Query { a: Int }', resolvers: { Query: { a: () => 1 } } } }
  const router = () => new RouteCollection()

  test('server option, object form, array form and register are one', async () => {
    const servers = [
      new Server({ router: router(), graphql: options }),
      new Server({ router: router(), plugins: { graphql: options } }),
      new Server({ router: router(), plugins: [graphql(options)] }),
      new Server({ router: router() }).register(graphql(options)),
    ]
    for (const server of servers) {
      const res = await server.inject.post('/graphql', { body: { query: '{ a }' } })
      expect(res.body()).toEqual({ data: { a: 1 } })
      await server.close()
    }
  })

  test('twice is an error', () => {
    expect(() => new Server({ router: router(), graphql: options, plugins: { graphql: options } })).toThrow(
      /"graphql" too/,
    )
    expect(() => new Server({ router: router(), graphql: options, plugins: [graphql(options)] })).toThrow(
      /"graphql" too/,
    )
  })

  test('server.graphql without it is an error with the remedy', () => {
    expect(() => new Server({ router: router() }).graphql).toThrow(/graphql\(\)/)
  })

  test('without json it fails the boot, and says so', async () => {
    const server = new Server({ router: router(), plugins: { json: false }, graphql: options })
    await expect(server.ready()).rejects.toThrow(/"json"/)
  })

  test.each<[object, RegExp]>([
    [{ scheme: {} }, /Did you mean "schema"/],
    [{ schema: { typedefs: '' } }, /Did you mean "typeDefs"/],
    [{ schema: { typeDefs: 3 } }, /graphql.schema.typeDefs/],
    [{ schema: { resolvers: 'x' } }, /graphql.schema.resolvers/],
    [{ schema: { files: [1] } }, /graphql.schema.files/],
    [{ schema: 'type Query' }, /graphql.schema/],
    [{ apolloOptions: { introspektion: true } }, /Did you mean "introspection"/],
    [{ apolloOptions: { csrfPrevention: 'yes' } }, /csrfPrevention/],
    [{ apolloOptions: { context: {} } }, /context/],
    [{ limits: { depth: 0 } }, /limits.depth/],
    [{ limits: { tokens: true } }, /limits.tokens/],
    [{ jit: { minCount: 0 } }, /minCount/],
    [{ jit: 'on' }, /graphql.jit/],
    [{ keepAlive: 0 }, /keepAlive/],
    [{ graphiql: 1 }, /graphiql/],
    [{ route: { cache: { ttl: 5 } } }, /route.cache/],
    [{ route: [] }, /graphql.route/],
    [{ limits: { deph: 5 } }, /Unknown option "graphql.limits.deph". Did you mean "depth"/],
  ])('wrong options are reported at once: %o', (options, message) => {
    const thrown = expect.objectContaining({ code: 'OptionError', message: expect.stringMatching(message) })
    expect(() => new Server({ router: router(), graphql: options as never })).toThrow(thrown)
  })

  test('wrong options have the path at which they stand', () => {
    expect(() => new Server({ router: router(), graphql: { jit: { minCount: 0 } } })).toThrow(
      'the option "graphql.jit.minCount" is 0; it takes a whole number above 0',
    )
    expect(() => new Server({ router: router(), plugins: { graphql: { keepAlive: 0 } } })).toThrow(
      'the option "plugins.graphql.keepAlive" is 0; it takes milliseconds above 0',
    )
  })
})
