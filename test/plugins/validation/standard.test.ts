import { runInNewContext } from 'node:vm'
import { queue, RouteCollection, Server } from 'framework'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { checkOf } from '../../../plugins/shared/schema/check.ts'
import { memoryLogger } from '../../support/kernel.ts'

const serverOf = () => new Server({ router: new RouteCollection(), logger: memoryLogger() })

type Judge = (code: string) => Promise<boolean>

const Code = z.object({ code: z.string() })
const MiniCode = mini.object({ code: mini.string() })

async function judged(one: { code: string }, judge: Judge, refuse?: (message: string) => void) {
  if (!(await judge(one.code))) refuse?.('is taken')
  return one
}

const schemas: readonly (readonly [string, (judge: Judge) => object])[] = [
  ['a member', (judge) => z.object({ code: z.string().refine(judge) })],
  ['an optional member', (judge) => z.object({ code: z.string().refine(judge).optional() })],
  ['a part of both', (judge) => Code.and(z.object({ code: z.string().refine(judge) }))],
  ['a part of a union', (judge) => z.union([z.object({ code: z.string().refine(judge) }), z.object({ id: z.int() })])],
  ['a lazy schema', (judge) => z.lazy(() => z.object({ code: z.string().refine(judge) }))],
  ['the whole', (judge) => Code.refine(({ code }) => judge(code))],
  [
    'superRefine',
    (judge) => Code.superRefine(async (one, { addIssue }) => void (await judged(one, judge, (why) => addIssue(why)))),
  ],
  ['transform', (judge) => Code.transform((one, { addIssue }) => judged(one, judge, (why) => addIssue(why)))],
  ['codec', (judge) => z.codec(Code, Code, { decode: (one) => judged(one, judge), encode: (one) => one })],
  ['Zod Mini', (judge) => mini.object({ code: mini.string().check(mini.refine(judge)) })],
  [
    'transform of Zod Mini',
    (judge) =>
      mini.pipe(
        MiniCode,
        mini.transform((one) => judged(one, judge)),
      ),
  ],
  ['Valibot', (judge) => v.objectAsync({ code: v.pipeAsync(v.string(), v.checkAsync(judge)) })],
]

describe('an asynchronous validator runs once for each value, and its failure is that of the request', () => {
  test.each(schemas)('%s', async (what, schemaOf) => {
    const asked: string[] = []
    // Nothing shows that this function returns a promise.
    const judge: Judge = (code) => {
      asked.push(code)
      return code === 'down' ? Promise.reject(new Error('the database is down')) : Promise.resolve(code === 'free')
    }
    const server = serverOf()
    server.post('/', { body: schemaOf(judge) }, (req) => req.body)
    const codes = ['down', 'free', 'down', /codec|transform of/.test(what) ? 'free' : 'taken', 'free']
    for (const code of codes) {
      const response = await server.inject.post('/', { body: { code } })
      response.assertStatus({ down: 500, free: 200, taken: 422 }[code]!)
      if (code === 'free') response.assertBodyDeepEqual({ code })
    }
    expect(asked).toEqual(codes)
  })

  test('a queue', async () => {
    const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { queues: true } })
    const codes = queue('codes', { schema: z.string().refine(() => Promise.reject(new Error('the database is down'))) })
    await server.ready()
    await expect(codes.publish('x')).rejects.toThrow('the database is down')
    await server.close()
  })
})

test('functions of Zod that are synchronous stay so', () => {
  const rows = [
    Code.refine(({ code }) => code !== 'taken').transform(({ code }) => code),
    mini.object({ code: mini.string().check(mini.refine((code) => code !== 'taken')) }),
  ]
  for (const schema of rows) {
    const check = checkOf(schema, 'body')
    expect(check({ code: 'free' })).toMatchObject({ ok: true })
    expect(check({ code: 'taken' })).toMatchObject({ ok: false, issues: [{ message: 'Invalid input' }] })
    expect(check({})).toMatchObject({ ok: false, issues: [{ path: '/code', keyword: 'required' }] })
  }
  const shout = mini.pipe(
    mini.string(),
    mini.transform((text) => text.toUpperCase()),
  )
  expect(checkOf(shout, 'exact')('a')).toEqual({ ok: true, value: 'A' })
})

test.each([
  ['of another realm', runInNewContext(`async () => ({ issues: [{ message: 'no' }] })`)],
  // biome-ignore lint/suspicious/noThenProperty: as the promises of some libraries are
  ['of a library', () => ({ then: (done: (result: object) => void) => done({ issues: [{ message: 'no' }] }) })],
])('a promise %s is waited for', async (_whose, validate) => {
  const server = serverOf()
  server.post('/', { body: { '~standard': { version: 1, vendor: 'own', validate } } as never }, () => 'entered')
  ;(await server.inject.post('/', { body: {} })).assertStatus(422)
})
