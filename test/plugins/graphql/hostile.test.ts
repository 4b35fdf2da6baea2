import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { graphqlApp, exampleSchema as schema } from '../../support/graphql.ts'
import { bombs } from '../../support/graphql-bombs.ts'

const limitExceeded = {
  errors: [{ message: expect.stringMatching(/^The document .*\.$/), extensions: { code: 'LIMIT_EXCEEDED' } }],
}

describe('documents that are too much', () => {
  const { post } = graphqlApp({ schema }, { plugins: { json: { sizeLimit: '2mb' } } })

  test.each(Object.entries(bombs))('%s: 400', async (_, query) => {
    expect(await post({ query })).toMatchObject({ status: 400, body: limitExceeded })
    expect(await post({ query }, { accept: 'application/graphql-response+json' })).toMatchObject({ status: 400 })
    expect((await post({ query: '{ hello }' })).status).toBe(200)
  })

  test('with the limits off no document makes a 500', async () => {
    const limits = { depth: false, aliases: false, directives: false, tokens: false } as const
    const open = graphqlApp({ schema, limits }, { plugins: { json: { sizeLimit: '2mb' } } })
    for (const query of [
      '{self'.repeat(50_000) + '}'.repeat(50_000),
      `{hello(name:${'['.repeat(100_000)}`,
      bombs['fragments that double']!,
    ]) {
      const { status, body } = await open.post({ query })
      expect(status).toBeLessThan(500)
      expect(body.errors.length).toBeGreaterThan(0)
    }
  })

  test('the introspection cannot be asked in circles', async () => {
    const query = `{ __schema { types { ${'fields { type { '.repeat(8)} name ${'} }'.repeat(8)} } } }`
    expect((await post({ query })).body).not.toHaveProperty('data')
  })

  test('a flood of errors is cut', async () => {
    const { body } = await post({ query: `{ ${Array.from({ length: 900 }, (_, i) => `f${i}`).join(' ')} }` })
    expect(body.errors.length).toBeLessThanOrEqual(21)
  })
})

describe('the counts of the limits', () => {
  const status = async (limits: object, query: string) => {
    const { body } = await graphqlApp({ schema, limits }).post({ query })
    return body.errors?.[0].extensions.code ?? 'fine'
  }
  const excess = 'LIMIT_EXCEEDED'

  test.each<[string, object, string, string]>([
    ['depth as allowed', { depth: 3 }, '{ self { self { hello } } }', 'fine'],
    ['one level more', { depth: 2 }, '{ self { self { hello } } }', excess],
    ['levels of inline fragments do not count', { depth: 1 }, '{ ... { ... on Query { hello } } }', 'fine'],
    ['depth through fragments', { depth: 2 }, '{ self { ...A } } fragment A on Query { self { hello } }', excess],
    ['the introspection is not deep', { depth: 1 }, '{ __schema { types { fields { name } } } }', 'fine'],
    ['what is beside it is', { depth: 1 }, '{ __typename self { hello } }', excess],
    ['aliases as allowed', { aliases: 2 }, '{ a: hello b: hello }', 'fine'],
    ['one alias more', { aliases: 1 }, '{ a: hello b: hello }', excess],
    [
      'aliases of a fragment count where it is spread',
      { aliases: 3 },
      '{ self { ...A self { ...A } } } fragment A on Query { a: hello b: hello }',
      excess,
    ],
    [
      'directives of every place',
      { directives: 2 },
      'query ($a: Boolean = true) { hello @skip(if: $a) ...A @include(if: $a) } fragment A on Query { numbers @skip(if: $a) }',
      excess,
    ],
    [
      'directives as allowed',
      { directives: 3 },
      'query ($a: Boolean = true) { hello @skip(if: $a) ...A @include(if: $a) } fragment A on Query { numbers @skip(if: $a) }',
      'fine',
    ],
    [
      'an alias in the introspection counts ten',
      { aliases: 20 },
      '{ __schema { a: types { name } b: types { name } } }',
      'fine',
    ],
    ['three are too much for twenty', { aliases: 20 }, '{ a: __type(name: "Item") { b: name c: name } }', excess],
    ['but not for __typename', { aliases: 2 }, '{ a: __typename b: __typename }', 'fine'],
    ['lines as allowed', { tokens: 5 }, '\n{\nhello\n}', 'fine'],
    ['one line more', { tokens: 5 }, '\n{\nhello\n}\n\n', excess],
    ['a skipped field counts as any', { aliases: 1 }, '{ a: hello @skip(if: true) b: hello @skip(if: true) }', excess],
    ['tokens', { tokens: 4 }, '{ hello numbers }', 'fine'],
    ['one token more', { tokens: 3 }, '{ hello numbers }', excess],
    ['aliases of an unused fragment', { aliases: 1 }, '{ hello } fragment A on Query { a: hello b: hello }', excess],
  ])('%s', async (_, limits, query, expected) => {
    expect(await status(limits, query)).toBe(expected)
  })

  test('the query by which tools ask for the whole schema fits', async () => {
    const { getIntrospectionQuery } = await import('graphql')
    expect(await status({}, getIntrospectionQuery())).toBe('fine')
  })
})

describe('hostile values', () => {
  const { post, server } = graphqlApp({ schema })

  test.each([
    '{"query":"{hello}","variables":{"__proto__":{"polluted":1}}}',
    '{"query":"{hello}","variables":{"constructor":{"prototype":{"polluted":1}}}}',
    '{"query":"{hello}","__proto__":{"polluted":1}}',
  ])('keys of a prototype: %s', async (body) => {
    const res = await server.inject.post('/graphql', { body, headers: { 'content-type': 'application/json' } })
    expect(res.statusCode()).toBe(400)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('variables that look like a refusal are variables', async () => {
    const { get } = graphqlApp({ schema })
    const variables = JSON.stringify({
      refused: true,
      legacy: false,
      status: 299,
      allow: 'X',
      errors: [{ message: 'mine' }],
    })
    expect(await get({ query: '{ hello }', variables })).toMatchObject({
      status: 200,
      body: { data: { hello: 'hello world' } },
    })
  })

  test('names of a prototype are names like others', async () => {
    for (const query of ['{ constructor }', '{ toString }', '{ __proto__ }', '{ hello(hasOwnProperty: 1) }']) {
      expect((await post({ query })).body).not.toHaveProperty('data')
    }
    const { body } = await post({ query: '{ constructor: hello __proto__: hello }' })
    expect(Object.keys(body.data)).toContain('constructor')
    expect(Reflect.get({}, 'hello')).toBeUndefined()
  })

  test('a wrong variable of great size is not sent back in full', async () => {
    const query = 'query ($c: Color) { color(of: $c) }'
    const { status, body } = await post({ query, variables: { c: 'x'.repeat(90_000), other: 'y'.repeat(1000) } })
    expect(status).toBe(200)
    expect(JSON.stringify(body).length).toBeLessThan(1000)
  })

  test('of many invalid variables few are reported: each message contains its value', async () => {
    const variables = { input: Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, 1])) }
    for (const accept of ['application/json', 'text/event-stream']) {
      const operation = accept === 'application/json' ? 'query' : 'subscription'
      const { post } = graphqlApp({
        schema: {
          typeDefs: `type Query { echo(input: Input): String } input Input { text: String }
            type Subscription { echo(input: Input): String }`,
        },
      })
      const { body } = await post(
        { query: `${operation} ($input: Input) { echo(input: $input) }`, variables },
        { accept },
      )
      const text = JSON.stringify(body)
      expect(text.match(/got invalid value/g)!.length).toBeLessThanOrEqual(3)
      expect(text.length).toBeLessThan(5000)
    }
  })

  test('values that resolvers give by mistake', async () => {
    const circular: { self?: object } = {}
    circular.self = circular
    const { post, log } = graphqlApp({
      schema: {
        typeDefs: 'type Query { big: Int text: Int list: [Int] enum: E any: J } enum E { A } scalar J',
        resolvers: { Query: { big: () => 2 ** 40, text: () => 'abc', list: () => 3, enum: () => 'B', any: () => 10n } },
      },
    })
    const { status, body } = await post({ query: '{ big text list enum }' })
    expect(status).toBe(200)
    expect(body.errors).toHaveLength(4)
    // JSON cannot hold it; that is an error like that of any other handler.
    expect((await post({ query: '{ any }' })).status).toBe(500)
    expect(log.at(-1)?.level).toBe('error')
  })
})

describe('many at once', () => {
  test('first requests that come together build one schema', async () => {
    let builds = 0
    const typeDefs = 'type Query { a: Int }'
    const resolvers = {
      Query: {
        get a() {
          builds++
          return () => 1
        },
      },
    }
    const { post } = graphqlApp({ schema: { typeDefs, resolvers } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ query: '{ a }' })))
    expect(answers.every(({ body }) => body.data?.a === 1)).toBe(true)
    const once = builds
    await post({ query: '{ a }' })
    expect(builds).toBe(once)
  })

  test('a client that leaves aborts the signal of its request', async () => {
    const seen: string[] = []
    const { server } = graphqlApp({
      schema: {
        typeDefs: 'type Query { wait: String }',
        resolvers: {
          Query: {
            wait: (_: unknown, __: object, context: unknown) =>
              new Promise((resolve) => {
                seen.push('started')
                ;(context as { req: { signal: AbortSignal } }).req.signal.addEventListener('abort', () => {
                  seen.push('aborted')
                  resolve('late')
                })
              }),
          },
        },
      },
    })
    const { port } = await server.listen()
    const leaving = new AbortController()
    const asked = fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ wait }"}',
      signal: leaving.signal,
    }).catch(() => {})
    while (!seen.includes('started')) await pause(5)
    leaving.abort()
    while (!seen.includes('aborted')) await pause(5)
    await asked
    await server.close()
  })

  test('thousands of different documents do not pile up', async () => {
    const { post } = graphqlApp({ schema })
    for (let i = 0; i < 1500; i++) await post({ query: `query Q${i} { hello }` })
    expect((await post({ query: 'query Q0 { hello }' })).body).toEqual({ data: { hello: 'hello world' } })
  })
})
