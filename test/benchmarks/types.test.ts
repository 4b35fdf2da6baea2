import { PassThrough } from 'node:stream'
import { Type as LegacyType } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { answerOf, calledRoutes, mistakes, routes, wrongRoute } from '../../benchmarks/types/application.ts'
import { elysia } from '../../benchmarks/types/frameworks/elysia.ts'
import { fastify } from '../../benchmarks/types/frameworks/fastify.ts'
import { hono } from '../../benchmarks/types/frameworks/hono.ts'
import { ours } from '../../benchmarks/types/frameworks/ours.ts'
import { orpc, trpc } from '../../benchmarks/types/frameworks/rpc.ts'
import { messagesOf } from '../../benchmarks/types/messages.ts'
import { type SchemaKind, schemaKinds } from '../../benchmarks/types/schemas.ts'

const frameworks = [...ours, ...fastify, ...hono, ...elysia, trpc, orpc]

/** Whether a value matches a schema of this kind. */
function accepts(kind: SchemaKind, shape: (typeof routes)[number]['answer'], value: unknown): boolean {
  const written = kind.write(shape).replace(/ as const$/, '')
  const type = kind.name === 'TypeBox 1' ? Type : LegacyType
  const schema: unknown = new Function('z', 'Type', `return ${written}`)(z, type)
  return kind.name === 'Zod'
    ? (schema as z.ZodType).safeParse(value).success
    : new Ajv().compile(schema as object)(value)
}

describe.each(schemaKinds)('the schemas of the application in $name', (kind) => {
  const body = routes[1]!.body!
  const sent = {
    title1: 'a',
    amount: 1,
    kind: 'kind1',
    address: { street: 'a', city: 'b', zip1: 'c' },
    lines: [{ sku: 'a', price: 1.5, count: 2 }],
  }

  test.each([
    ['all that is required', sent, true],
    ['what is optional', { ...sent, note: 'a' }, true],
    ['a number that is not whole', { ...sent, amount: 1.5 }, false],
    ['a kind that is not named', { ...sent, kind: 'kind2' }, false],
    ['an object without a member', { ...sent, address: { street: 'a', city: 'b' } }, false],
    ['an item of another type', { ...sent, lines: [{ sku: 1, price: 1, count: 2 }] }, false],
  ])('%s', (_what, value, accepted) => expect(accepts(kind, body, value)).toBe(accepted))
})

describe('the application', () => {
  test('has 300 routes in ten files, a third of them with a 404, and the client calls two of each', () => {
    expect(routes).toHaveLength(300)
    expect(routes.filter(({ missing }) => missing)).toHaveLength(100)
    expect(new Set(routes.map(({ file }) => file)).size).toBe(10)
    expect(calledRoutes).toHaveLength(20)
  })

  test('answers by its schema', () => {
    const access = { id: `'1'`, body: 'body', query: '{}' }
    const body = {
      title1: 'a',
      amount: 1,
      kind: 'new',
      address: { city: 'b' },
      lines: [{ sku: 'a', price: 1, count: 2 }],
    }
    const answer: unknown = new Function('body', `return ${answerOf(routes[1]!, access)}`)(body)
    for (const kind of schemaKinds) expect(accepts(kind, routes[1]!.answer, answer)).toBe(true)
  })

  test.each(frameworks)('of $name is written differently for each mistake that it can make', (framework) => {
    const right = framework.routes('part', [{ ...wrongRoute('status'), mistake: undefined }])
    const wrong = mistakes
      .filter((mistake) => !framework.undeclared?.includes(mistake))
      .map((mistake) => framework.routes('part', [{ ...wrongRoute(mistake), file: wrongRoute('status').file }]))
    expect(new Set([right, ...wrong]).size).toBe(wrong.length + 1)
    expect(right).toContain(`${framework.body}.title3`)
  })
})

test('messages are cut where their length says, however they arrive', async () => {
  const stream = new PassThrough()
  const messages: unknown[] = []
  messagesOf(stream, (message) => messages.push(message))
  const framed = ['{"a":"ä"}', '[1]\n'].map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  for (const byte of Buffer.from(framed.join(''))) stream.write(Buffer.of(byte))
  stream.end(Buffer.from(framed.join('')))
  await new Promise((resolve) => stream.once('end', resolve))
  expect(messages).toEqual([{ a: 'ä' }, [1], { a: 'ä' }, [1]])
})
