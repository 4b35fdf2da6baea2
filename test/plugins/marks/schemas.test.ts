import { channel } from 'node:diagnostics_channel'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { RouteCollection, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import * as v from 'valibot'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Redactor } from '../../../plugins/inspector/redact.ts'
import { checkOf } from '../../../plugins/shared/schema/check.ts'
import { marksOf } from '../../../plugins/shared/schema/marks.ts'
import { hideFields, isMarkedName, rememberMarked } from '../../../plugins/shared/values/marked.ts'

const servers: Server<{}>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const text = { type: 'string' }
const mail = { type: 'string', sensitive: true }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const membersOf = (schema: object) => Object.fromEntries(marksOf(schema)!.members.map(({ path, mark }) => [path, mark]))

describe('the marked members of a schema', () => {
  test.each<[string, object, object]>([
    ['a member', object({ a: mail, b: text }), { a: 'sensitive' }],
    ['the value itself', mail, { '': 'sensitive' }],
    ['of two marks the secret', object({ a: { ...mail, secret: true } }), { a: 'secret' }],
    ['false is not a mark', object({ a: mail, b: { ...text, sensitive: false } }), { a: 'sensitive' }],
    ['an object with all that is in it', object({ a: object({ b: text }, { sensitive: true }) }), { a: 'sensitive' }],
    [
      'a secret in it',
      object({ a: object({ b: { ...text, secret: true }, c: mail }, { sensitive: true }) }),
      { a: 'sensitive', 'a.b': 'secret' },
    ],
    ['items', object({ a: { type: 'array', items: object({ b: mail }) } }), { 'a[].b': 'sensitive' }],
    ['tuples', object({ a: { type: 'array', items: [text, mail] } }), { 'a[]': 'sensitive' }],
    ['records', object({ a: { type: 'object', additionalProperties: mail } }), { 'a.*': 'sensitive' }],
    ['patterns', object({ a: { type: 'object', patternProperties: { '^x': mail } } }), { 'a.*': 'sensitive' }],
    ['combinations', object({ a: { anyOf: [text, { allOf: [mail] }] } }), { a: 'sensitive' }],
    [
      'a mark beside a combination',
      { allOf: [object({ a: text }), object({ a: { sensitive: true } })] },
      { a: 'sensitive' },
    ],
    ['conditions', object({}, { if: object({ a: text }), else: object({ a: mail }) }), { a: 'sensitive' }],
    [
      'references',
      { $defs: { M: mail }, ...object({ a: { $ref: '#/$defs/M' }, b: { $ref: '#/$defs/M' } }) },
      { a: 'sensitive', b: 'sensitive' },
    ],
    [
      'a mark beside a reference',
      { $defs: { T: text }, ...object({ a: { $ref: '#/$defs/T', secret: true } }) },
      { a: 'secret' },
    ],
    [
      'shared schemas',
      object({ a: { $id: 'Shared', ...object({ m: mail }) }, b: { $ref: 'Shared' } }),
      { 'a.m': 'sensitive', 'b.m': 'sensitive' },
    ],
    [
      'recursion',
      { $id: 'Tree', ...object({ m: mail, kids: { type: 'array', items: { $ref: '#' } } }) },
      { m: 'sensitive', 'kids[].m': 'sensitive' },
    ],
  ])('%s', (_, schema, members) => {
    expect(membersOf(schema)).toEqual(members)
  })

  test('are found in validators, whichever side of a transformation has them', () => {
    expect(
      membersOf(
        z.object({
          a: z.string().meta({ sensitive: true }).transform(Number),
          b: z.record(z.string(), z.string().meta({ secret: true })),
        }),
      ),
    ).toEqual({
      a: 'sensitive',
      'b.*': 'secret',
    })
    expect(marksOf(z.object({ a: z.string() }))).toBeUndefined()
  })

  test('a graph of types that all refer to each other is read in time', () => {
    const names = Array.from({ length: 14 }, (_, at) => `T${at}x`)
    const $defs = Object.fromEntries(
      names.map((name) => [
        name,
        object({ [`m${name}`]: mail, ...Object.fromEntries(names.map((one) => [one, { $ref: `#/$defs/${one}` }])) }),
      ]),
    )
    const begun = performance.now()
    expect(marksOf({ $ref: '#/$defs/T0x', $defs })!.members.length).toBeGreaterThan(14)
    expect(performance.now() - begun).toBeLessThan(60_000)
    expect(names.every((name) => isMarkedName(`m${name}`))).toBe(true)
  })
})

describe('a mark that would be lost is an error', () => {
  const refused = (body: object, options: object = {}) => {
    const router = new RouteCollection()
    router.post('/people', { body, ...options }, () => 1)
    const server = new Server<{}>({ router, plugins: {}, gracefulShutdown: false } as never)
    servers.push(server)
    return server.ready().then(
      () => 'booted',
      (error: Error) => error.message,
    )
  }

  test.each([
    [
      object({ a: { ...text, sensitive: 'yes' } }),
      '"sensitive" of its member "a" is "yes". Set it to true, or leave it out',
    ],
    [object({ a: { type: 'array', items: { ...text, secret: 1 } } }), '"secret" of its member "a[]" is 1'],
    [z.object({ a: z.string().meta({ secret: 'no' }) }), '"secret" of its member "a" is "no"'],
    [
      object({ a: { type: 'object', propertyNames: mail } }),
      '"propertyNames" of its member "a" has a mark, which hides nothing',
    ],
    [z.object({ a: z.record(z.string().meta({ sensitive: true }), z.string()) }), '"propertyNames" of its member "a"'],
    [{ ...text, contentMediaType: 'application/json', contentSchema: object({ a: mail }) }, 'Mark the value itself'],
    [{ ...text, sensitive: null }, '"sensitive" of the value itself is null'],
    [
      object({ a: { ...text, sensitiv: true } }),
      '"sensitiv" is not a keyword of JSON Schema; did you mean "sensitive"?',
    ],
    [
      v.object({ a: v.pipe(v.string(), v.metadata({ sensitive: true })) }),
      'it marks a member as sensitive or secret, and cannot be described: a schema of "valibot" without Standard JSON Schema: wrap it',
    ],
  ])('%#', async (schema, message) => {
    const said = await refused(schema)
    expect(said).toContain('the schema "body" of POST /people cannot be used')
    expect(said).toContain(message)
  })

  test('a valibot schema without marks needs no description', async () => {
    expect(await refused(v.object({ sensitive: v.string(), secret: v.boolean() }))).toBe('booted')
    expect(
      await refused(toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.metadata({ sensitive: true })) }))),
    ).toBe('booted')
  })

  test('a secret in a response is refused, unless the route issues it', async () => {
    const Token = object({ token: { ...text, secret: true }, until: text })
    const plain = object({})
    expect(await refused(plain, { responses: { 201: Token } })).toContain(
      `responses[201] of POST /people cannot be used: it sends the secret "token". Leave it out of the response. A route that gives it out says so: issues: ['token']`,
    )
    expect(
      await refused(plain, { responses: { 201: z.object({ token: z.string().meta({ secret: true }) }) } }),
    ).toContain('the secret "token"')
    expect(await refused(plain, { responses: { 201: Token }, issues: ['token'] })).toBe('booted')
    expect(await refused(plain, { responses: { 201: Token }, issues: ['token', 'tokn'] })).toContain(
      '"tokn" is not a secret member of a response',
    )
    expect(await refused(plain, { issues: ['token'] })).toContain('"token" is not a secret member of a response')
    expect(await refused(plain, { responses: { 200: object({ a: mail }) } })).toBe('booted')
    const within = object({ owner: object({ token: { ...text, secret: true } }, { sensitive: true }) })
    expect(await refused(plain, { responses: { 200: within } })).toContain('it sends the secret "owner.token"')
  })
})

describe('data with a schema is hidden by its place', () => {
  test('and the rest is shown', () => {
    const { hide, valuesIn } = marksOf(
      object({
        name: mail,
        pet: object({ name: text }),
        list: { type: 'array', items: { type: 'object', additionalProperties: mail } },
      }),
    )!
    const value = { name: 'Ann', pet: { name: 'Rex' }, list: [{ x: 'one' }, { y: 2 }], more: 'shown' }
    expect(hide(value)).toEqual({
      name: '[redacted]',
      pet: { name: 'Rex' },
      list: [{ x: '[redacted]' }, { y: '[redacted]' }],
      more: 'shown',
    })
    expect(valuesIn(value).sort()).toEqual([2, 'Ann', 'one'])
    expect(marksOf(object({ 'X-User': mail }))!.valuesIn({ 'x-user': 'Ann' })).toEqual(['Ann'])
    expect(hide(null)).toBe(null)
    expect(hide('text')).toBe('text')
  })

  test('a value that is too deep is hidden whole', () => {
    const { hide } = marksOf({ $id: 'DeepTree', ...object({ m: mail, kid: { $ref: '#' } }) })!
    let value: object = { m: 'x' }
    for (let depth = 0; depth < 50_000; depth++) value = { kid: value }
    expect(hide(value)).toBe('[redacted]')
  })
})

test('of a value at the place where the inspector cuts a text, no part is shown', () => {
  marksOf(mail)
  const shown = channel('tracing:framework:request:start').runStores({}, () => {
    rememberMarked(['ann@example.org'])
    return new Redactor([], []).value(`${'x'.repeat(8 * 1024 - 5)}ann@example.org`)
  })
  expect(shown).not.toContain('ann')
})

describe('a mistake in a marked member', () => {
  test.each<[string, object]>([
    [
      'a message of the application',
      z.object({
        pin: z
          .string()
          .meta({ secret: true })
          .refine(() => false, { error: ({ input }) => `no ${input}!` }),
      }),
    ],
    ['a short value', toStandardJsonSchema(v.object({ pin: v.pipe(v.picklist(['x']), v.metadata({ secret: true })) }))],
  ])('%s is not repeated', async (_, schema) => {
    const verdict = await checkOf(schema, 'body')({ pin: '123' })
    expect(verdict.ok).toBe(false)
    expect(JSON.stringify(verdict)).not.toContain('123')
  })

  // It took a regular expression for each value and message.
  test('costs little in a list of many', async () => {
    const list = object({ list: { type: 'array', items: { ...mail, minLength: 9 } } })
    const begun = process.cpuUsage()
    const verdict = await checkOf(list, 'body')({ list: Array.from({ length: 100_000 }, (_, at) => at.toString(36)) })
    expect(verdict.ok).toBe(false)
    expect(process.cpuUsage(begun).user).toBeLessThan(8_000_000)
  })
})

describe('names', () => {
  test('a generic one hides nothing that the framework writes at the top of an entry', () => {
    marksOf(object({ name: mail, queue: mail, method: mail, firstName: mail, message: mail }))
    const entry = {
      level: 30,
      method: 'GET',
      queue: 'orders',
      err: { type: 'Error', message: 'no', stack: 'Error: no\n at x' },
    }
    expect(hideFields(entry)).toEqual(entry)
    expect(hideFields({ name: 'Ann', user: { method: 'x', first_name: 'Ann', age: 3, NAME: null } })).toEqual({
      name: '[redacted]',
      user: { method: '[redacted]', first_name: '[redacted]', age: 3, NAME: null },
    })
  })

  test('do not hide the plugins, routes and queues that the framework lists', async () => {
    const router = new RouteCollection()
    router.get('/named', () => 1)
    const server = new Server<{}>({ router, plugins: {}, gracefulShutdown: false } as never)
    servers.push(server)
    await server.ready()
    expect(server.listing.plugins.map(({ definition }) => definition.name)).toContain('validation')
  })
})

test('the description of a secret that a route issues does not say that it is only written', async () => {
  const Token = { $id: 'IssuedToken', ...object({ token: { ...text, secret: true } }) }
  const Login = {
    $id: 'LoginBody',
    ...object(
      { password: { ...text, secret: true, default: 'x', examples: ['y'] } },
      { examples: [{ password: 'z' }] },
    ),
  }
  const router = new RouteCollection()
  router.post(
    '/login',
    { body: Login, responses: { 200: Token }, issues: ['token'] } as never,
    (() => ({ token: 'x' })) as never,
  )
  const server = new Server<{}>({ router, plugins: {}, gracefulShutdown: false } as never)
  servers.push(server)
  await server.ready()
  const { components } = describeServer(server as never) as { components: { schemas: Record<string, unknown> } }
  expect(components.schemas).toMatchObject({
    IssuedToken: { properties: { token: { type: 'string', format: 'password' } } },
    LoginBody: {
      properties: { password: { type: 'string', format: 'password', writeOnly: true } },
      examples: [{ password: '[redacted]' }],
    },
  })
  expect(JSON.stringify(components)).not.toMatch(/"default"|"y"|"token":\{[^}]*writeOnly/)
})
