import { Type } from '@sinclair/typebox'
import { type Serializer, serializer } from 'framework'
import * as typebox1 from 'typebox'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'

interface User {
  id: number
  name: string
  email: string
}
/** Past the compiler, which knows the names. */
const use = (users: unknown, name: unknown) =>
  (users as Serializer<User, { any: { result: unknown; context: undefined } }>).useVariant(name as 'any', ann)
const ann: User = { id: 1, name: 'Ann', email: 'ann@example.com' }

describe('a serializer', () => {
  test('maps data by the variant that is named', async () => {
    const users = serializer<User>()
      .defineVariant('public', ({ id, name }) => ({ id, name }))
      .defineVariant('name', async (user) => user.name)
    expect(await users.useVariant('public', ann)).toEqual({ id: 1, name: 'Ann' })
    expect(await users.useVariant('name', ann)).toBe('Ann')
  })

  test('passes the context to the function', async () => {
    const users = serializer<User>()
      .defineVariant('own', (user, ctx: { locale: string }) => `${user.name} ${ctx.locale}`)
      .defineVariant('maybe', (user, ctx?: { locale: string }) => `${user.name} ${ctx?.locale}`)
    expect(await users.useVariant('own', ann, { ctx: { locale: 'en' } })).toBe('Ann en')
    expect(await users.useVariant('maybe', ann)).toBe('Ann undefined')
  })

  test('knows variants that are defined one statement at a time', async () => {
    const users = serializer<User>()
    const named = users.defineVariant('name', (user) => user.name)
    expect(named).toBe(users)
    expect(await named.useVariant('name', ann)).toBe('Ann')
  })

  test('rejects with the error of the function', async () => {
    const error = new Error('broken')
    const users = serializer<User>()
      .defineVariant('a', () => {
        throw error
      })
      .defineVariant('b', () => Promise.reject(error))
    await expect(users.useVariant('a', ann)).rejects.toBe(error)
    await expect(users.useVariant('b', ann)).rejects.toBe(error)
  })

  test('rejects an unknown variant with those there are and the nearest', async () => {
    const users = serializer<User>()
      .defineVariant('public', () => 1)
      .defineVariant('a"b\n', () => 1)
    await expect(use(users, 'pubilc')).rejects.toMatchObject({
      code: 'UnknownVariantError',
      message: 'there is no variant "pubilc". Did you mean "public"? Defined: "public", "a\\"b\\n"',
    })
    await expect(use(serializer<User>(), 'x')).rejects.toThrow('Defined: none')
    for (const name of ['__proto__', 'constructor', 'toString', undefined, {}]) {
      await expect(use(users, name)).rejects.toThrow(expect.objectContaining({ code: 'UnknownVariantError' }))
    }
  })

  test('refuses a name twice, no name, and no function', () => {
    const users = serializer<User>().defineVariant('public', () => 1)
    expect(() => users.defineVariant('public' as never, () => 2)).toThrow('the variant "public" is already defined')
    for (const name of ['', undefined, 1, Symbol('a')]) {
      expect(() => users.defineVariant(name as never, () => 1)).toThrow(
        expect.objectContaining({ code: 'OptionError' }),
      )
    }
    expect(() => users.defineVariant('b', {} as never)).toThrow(expect.objectContaining({ code: 'OptionError' }))
  })

  test('refuses options it does not know: a misspelt validate would validate nothing', async () => {
    const users = serializer<User>().defineVariant('public', () => 'a', { type: 'string' })
    await expect(users.useVariant('public', ann, { validated: true } as {})).rejects.toThrow(
      expect.objectContaining({ code: 'OptionError' }),
    )
    await expect(users.useVariant('public', ann, { validate: 'yes' } as {})).rejects.toThrow(
      'the option "useVariant.validate" is "yes"; it takes true or false',
    )
  })

  test.each([
    '__proto__',
    'constructor',
    'hasOwnProperty',
    `a'b`,
    'a"b',
    'a`b',
    'a\nb',
    'a\u2028b',
    '$1',
    ' ',
    '*/',
  ])('takes the name %j', async (name) => {
    const users = serializer<User>().defineVariant(name, (user) => ({ ['__proto__']: user.name, name }), {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 0 } },
    })
    expect((await users.useVariant(name, ann)).name).toBe(name)
    const failure = users.useVariant(name, ann, { validate: true })
    await expect(failure).rejects.toThrow(`the variant ${JSON.stringify(name)} does not match its schema at "/name"`)
    expect(Object.prototype).not.toHaveProperty('name')
  })
})

describe('the schema of a variant', () => {
  const object = { type: 'object', required: ['id', 'email'], properties: { id: { type: 'integer' } } }
  const schemas: [string, object][] = [
    ['JSON Schema', { ...object, properties: { ...object.properties, email: { type: 'string', format: 'email' } } }],
    ['TypeBox 0.34', Type.Object({ id: Type.Integer(), email: Type.String({ format: 'email' }) })],
    ['TypeBox 1', typebox1.Object({ id: typebox1.Integer(), email: typebox1.String({ format: 'email' }) })],
    ['Zod 4', z.object({ id: z.int(), email: z.email() })],
    ['an async Zod 4', z.object({ id: z.int().refine(async () => true), email: z.email() })],
  ]

  test.each(schemas)('%s is not run unless it is asked for', async (_kind, schema) => {
    const users = serializer<unknown>().defineVariant('all', (data) => data, schema as {})
    expect(await users.useVariant('all', { id: 'x' })).toEqual({ id: 'x' })
    expect(await users.useVariant('all', { id: 'x' }, { validate: false })).toEqual({ id: 'x' })
  })

  test.each(schemas)('%s: a matching value is returned as it was mapped', async (_kind, schema) => {
    const users = serializer<unknown>().defineVariant('all', (data) => data, schema as {})
    const data = { id: 1, email: 'a@b.de', more: true }
    expect(await users.useVariant('all', data, { validate: true })).toBe(data)
    expect(data).toEqual({ id: 1, email: 'a@b.de', more: true })
  })

  test.each(schemas)('%s: a mismatch rejects with variant and place', async (_kind, schema) => {
    const users = serializer<unknown>().defineVariant('all', (data) => data, schema as {})
    const failure = (data: unknown) => users.useVariant('all', data, { validate: true })
    await expect(failure({ id: '1', email: 'a@b.de' })).rejects.toMatchObject({
      code: 'VariantMismatchError',
      status: 500,
      message: expect.stringMatching(/^the variant "all" does not match its schema at "\/id": ./),
      cause: [expect.anything()],
    })
    await expect(failure({ id: 1, email: 'nobody' })).rejects.toThrow('at "/email": ')
    await expect(failure('text')).rejects.toThrow('at "": ')
  })

  test('names in the pointer are escaped', async () => {
    const path = ['a/b', '~', 0, { key: 'c"\n' }]
    const validate = () => ({ issues: [{ message: 'no', path }] })
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
    const data = serializer<unknown>().defineVariant('all', (one) => one, schema)
    await expect(data.useVariant('all', 1, { validate: true })).rejects.toThrow('at "/a~1b/~0/0/c\\"\\n": no')
  })

  test('is compiled once, and two may have one $id', async () => {
    const schema = { $id: 'https://example.com/user', type: 'string' }
    const read = vi.fn(() => 'string')
    const data = serializer<unknown>()
      .defineVariant('text', (one) => one, schema)
      .defineVariant('number', (one) => Number(one), { ...schema, type: 'number' })
      .defineVariant('counted', (one) => one, Object.defineProperty({}, 'type', { get: read, enumerable: true }))
    await data.useVariant('text', 'a', { validate: true })
    await data.useVariant('number', 1, { validate: true })
    await expect(data.useVariant('number', 'x', { validate: true })).rejects.toThrow(
      expect.objectContaining({ code: 'VariantMismatchError' }),
    )
    await data.useVariant('counted', 'a', { validate: true })
    const reads = read.mock.calls.length
    await data.useVariant('counted', 'b', { validate: true })
    expect(read.mock.calls.length).toBe(reads)
  })

  test('that cannot be compiled rejects each time', async () => {
    const data = serializer<unknown>().defineVariant('a', (one) => one, { type: 'nonsense' })
    for (let i = 0; i < 2; i++)
      await expect(data.useVariant('a', 1, { validate: true })).rejects.toThrow(
        expect.objectContaining({ code: 'VariantSchemaError' }),
      )
  })

  test('a validator that throws, and one that responds nothing, let nothing through', async () => {
    const standard = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'test', validate } }) as const
    const data = serializer<unknown>()
      .defineVariant(
        'throws',
        (one) => one,
        standard(() => {
          throw new Error('broken')
        }),
      )
      .defineVariant(
        'silent',
        (one) => one,
        standard(() => undefined),
      )
    await expect(data.useVariant('throws', 1, { validate: true })).rejects.toThrow('broken')
    await expect(data.useVariant('silent', 1, { validate: true })).rejects.toThrow()
  })

  test('that is missing is an error where validation is asked for', async () => {
    const users = serializer<User>().defineVariant('a', (user) => user)
    await expect(users.useVariant('a', ann, { validate: true })).rejects.toMatchObject({
      code: 'VariantWithoutSchemaError',
    })
  })

  test.each([[null], ['string'], [[]], [1]])('%j is not a schema', (schema) => {
    expect(() => serializer<User>().defineVariant('a', (user) => user, schema as {})).toThrow(
      expect.objectContaining({ code: 'VariantSchemaError' }),
    )
  })
})
