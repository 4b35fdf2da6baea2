import { type } from 'arktype'
import { RouteCollection, Server, type ValidationErrorHandler } from 'framework'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryLogger } from '../../support/kernel.ts'

const seats = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] }
const schemas = {
  'JSON Schema': { type: 'object', properties: { guests: { type: 'array', items: seats } }, required: ['guests'] },
  TypeBox: Type.Object({ guests: Type.Array(Type.Object({ seats: Type.Integer() })) }),
  Zod: z.object({ guests: z.array(z.object({ seats: z.number() })) }),
  Valibot: v.object({ guests: v.array(v.object({ seats: v.number() })) }),
  ArkType: type({ guests: type({ seats: 'number' }).array() }),
}

async function refused(schema: object, body: object, handler?: ValidationErrorHandler) {
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger() })
  if (handler !== undefined) server.setValidationErrorHandler(handler)
  server.post('/', { body: schema }, () => 'fine')
  const res = await server.inject.post('/', { body, headers: { 'accept-language': 'de' } })
  return res
}

describe.each(Object.entries(schemas))('a missing member, with %s', (_library, schema) => {
  test('has its own path and the keyword required', async () => {
    const row = (path: string) => ({ errors: [{ part: 'body', path, keyword: 'required' }] })
    expect((await refused(schema, {})).body()).toMatchObject(row('/guests'))
    expect((await refused(schema, { guests: [{}] })).body()).toMatchObject(row('/guests/0/seats'))
  })

  test('differs from a wrong one', async () => {
    const { errors } = (await refused(schema, { guests: [{ seats: 'x' }] })).body<{ errors: { keyword: string }[] }>()
    expect(errors).toMatchObject([{ path: '/guests/0/seats' }])
    expect(errors[0]!.keyword).not.toBe('required')
  })

  test('has the words of the application', async () => {
    const message: ValidationErrorHandler = {
      message: ({ path, keyword }, req) => `${req.headers['accept-language']} ${keyword} ${path}`,
    }
    expect((await refused(schema, {}, message)).body()).toMatchObject({ errors: [{ message: 'de required /guests' }] })
  })
})

test('messages go with a status and a map, and undefined keeps that of the validator', async () => {
  const res = await refused(
    schemas['JSON Schema'],
    {},
    {
      status: 400,
      message: () => undefined,
      map: ({ errors }) => errors.map(({ message }) => message),
    },
  )
  res.assertStatus(400).assertBodyDeepEqual(["must have required property 'guests'"])
})

test('a message that is not a string is a mistake of the application', async () => {
  // Its failure ends nothing.
  for (const message of [async () => 'late', () => Promise.reject(new Error('late'))]) {
    ;(await refused(schemas['JSON Schema'], {}, { message } as never)).assertStatus(500)
  }
  await expect(refused(schemas['JSON Schema'], {}, { message: 'no' } as never)).rejects.toThrow(
    'it takes a function (issue, req) => string',
  )
})
