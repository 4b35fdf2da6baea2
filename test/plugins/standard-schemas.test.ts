import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { RouteCollection, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import * as v from 'valibot'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { z as zod40 } from 'zod-4.0'
import { z as zod41 } from 'zod-4.1'
import { problemsOf } from '../support/openapi.ts'

const folders: string[] = []
afterEach(() => vi.restoreAllMocks())
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** The folder of an application that has another Zod than the framework. */
function standIn(alias: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'zod-'))
  folders.push(folder)
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../../node_modules', alias), join(folder, 'node_modules/zod'), 'dir')
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
}

async function described(body: object, answer: object = body): Promise<{ [name: string]: unknown }> {
  const server = new Server({ router: new RouteCollection() })
  server.post('/', { body, responses: { 200: answer } } as {}, () => {})
  const document = describeServer(server, { failures: false })
  expect(await problemsOf(document)).toEqual([])
  const { requestBody, responses } = document.paths['/']!.post!
  const of = (content: unknown) => (content as { 'application/json': { schema: unknown } })['application/json'].schema
  const answered = responses[200] as { content: object }
  return { body: of(requestBody!.content), answer: of(answered.content), ...document.components?.schemas }
}

/** One schema with everything that versions might say differently. */
function userOf(zod: typeof z): object {
  const Team = zod.object({ name: zod.string().min(1) }).meta({ id: 'Team', description: 'Who plays together' })
  return zod
    .object({
      id: zod.int().describe('A number'),
      mail: zod.string().regex(/@/).max(99).nullable(),
      born: zod.date(),
      seen: zod.coerce.date().optional(),
      role: zod.enum(['member', 'admin']).default('member'),
      size: zod.string().transform((text: string) => text.length),
      teams: zod.array(Team),
      home: Team.optional(),
      total: zod.bigint(),
      map: zod.map(zod.string(), zod.string()),
      kind: zod.union([
        zod.object({ type: zod.literal('a'), n: zod.number().positive() }),
        zod.object({ type: zod.literal('b') }),
      ]),
    })
    .meta({ id: 'User', title: 'A user' })
}

/** Their types differ in places that do not matter here. */
const older: [string, typeof z][] = [
  ['zod-4.0', zod40 as unknown as typeof z],
  ['zod-4.1', zod41 as unknown as typeof z],
]

describe('Zod of every 4', () => {
  test('for a version that cannot describe itself and differs from the one that is found, the error names one that can', async () => {
    const { major, minor, patch } = z.core.version
    const found = `${major}.${minor}.${patch}`
    const why = `a schema of Zod 4.1.13 is described by the package "zod" of that version, and the one found here is ${found}`
    expect((await described(zod41.object({}))).body).toEqual({
      description: `Not described: ${why}; from 4.2 on Zod schemas describe themselves.`,
    })
  })

  test.each(older)('%s has the same description as the newest', async (alias, zod) => {
    standIn(alias)
    expect(await described(userOf(zod))).toEqual(await described(userOf(z)))
  })

  test.each(older)('%s: one value of a list, defaults, and answers', async (alias, zod) => {
    standIn(alias)
    const server = new Server({ router: new RouteCollection(), plugins: { log: false } })
    const query = zod.object({ tag: zod.array(zod.string()).optional(), page: zod.coerce.number().default(1) })
    server.get(
      '/',
      { query, responses: { 200: zod.object({ tag: zod.array(zod.string()), page: zod.number() }) } },
      (req, res) => res.ok({ ...req.query, secret: 'kept back' } as never),
    )
    const res = await server.inject.get('/?tag=a')
    res.assertStatus(200).assertBodyDeepEqual({ tag: ['a'], page: 1 })
    await server.close()
  })
})

describe('other validators', () => {
  test('Valibot has no description, and the error names its package', async () => {
    expect((await described(v.object({ a: v.string() }))).body).toEqual({
      description:
        'Not described: a schema of "valibot" without Standard JSON Schema: wrap it in toStandardJsonSchema() of the package @valibot/to-json-schema, from 1.5 on.',
    })
  })

  test('wrapped it is described, and validates as before', async () => {
    const Book = toStandardJsonSchema(
      v.object({
        title: v.string(),
        at: v.pipe(
          v.string(),
          v.transform((text) => new Date(text)),
        ),
        big: v.optional(v.bigint()),
        tags: v.optional(v.array(v.string()), []),
      }),
    )
    const { body } = await described(Book)
    const tags = { type: 'array', items: { type: 'string' }, default: [] }
    expect(body).toEqual({
      type: 'object',
      properties: { title: { type: 'string' }, at: { type: 'string' }, big: {}, tags },
      required: ['title', 'at'],
    })
    const server = new Server({ router: new RouteCollection(), plugins: { log: false } })
    server.post('/', { body: Book }, (req) => req.body.at.getFullYear())
    server.get('/', { query: toStandardJsonSchema(v.object({ tag: v.array(v.string()) })) }, (req) => req.query.tag)
    const res = await server.inject.post('/', { body: { title: 'a', at: '2026-01-02' } })
    res.assertStatus(200).assertBodyDeepEqual(2026)
    const one = await server.inject.get('/?tag=a')
    one.assertBodyDeepEqual(['a'])
    await server.close()
  })

  test('ArkType describes itself, parts without a form in JSON as {}', async () => {
    const Book = type({ title: 'string > 0', born: 'Date', 'pages?': 'number.integer', map: 'Map' })
    const { body } = await described(Book)
    expect(body).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 1 },
        born: { type: 'string', format: 'date-time' },
        pages: { type: 'integer' },
        map: {},
      },
      required: ['born', 'map', 'title'],
    })
  })

  test('an older ArkType says nothing, and from when on it does is said', async () => {
    const old = { '~standard': { version: 1, vendor: 'arktype', validate: (value: unknown) => ({ value }) } }
    expect((await described(old)).body).toEqual({
      description: 'Not described: a schema of "arktype" without Standard JSON Schema: ArkType has it from 2.1.28 on.',
    })
  })
})
