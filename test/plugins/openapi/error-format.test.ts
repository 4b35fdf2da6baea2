import { type ErrorFormat, HttpError, PolicyManager, RouteCollection, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { generateClient } from '../../../cli/sdk/generate.ts'
import { problemsOf } from '../../support/openapi.ts'

const policies = new PolicyManager({ site: { admin: () => false } }, { status: 'byUser' })
const Name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

async function responsesIn(errorFormat?: ErrorFormat) {
  const server = new Server<{}>({
    router: new RouteCollection(),
    errorFormat,
    plugins: { rateLimit: true, timeout: true, cache: { lockBehavior: 'fail' } },
  } as {})
  server.post(
    '/names',
    {
      body: Name,
      policy: { manager: policies, scope: 'site', handler: 'admin' },
      responses: { 201: Name, 404: HttpError },
    },
    () => ({ name: 'ada' }),
  )
  server.get('/kept', { cache: true, timeout: false }, () => 'kept')
  const document = describeServer(server)
  expect(await problemsOf(document)).toEqual([])
  const { paths, components = {} } = document
  const contents = (path: string, method: 'get' | 'post') =>
    Object.fromEntries(
      Object.entries(paths[path]![method]!.responses).map(([status, one]) => {
        const name = '$ref' in one ? one.$ref.split('/').at(-1)! : undefined
        const whole = (name === undefined ? one : components.responses![name]) as { content?: object }
        return [status, whole.content]
      }),
    )
  return {
    document,
    names: contents('/names', 'post'),
    kept: contents('/kept', 'get'),
    schemas: components.schemas ?? {},
  }
}

const failures = ['400', '401', '403', '404', '413', '415', '422', '429', '503']
const failing = (contents: object) => Object.entries(contents).filter(([status]) => status >= '400')

describe('failures are described in the format of the server', () => {
  test('in the default one', async () => {
    const { names, kept, schemas } = await responsesIn()
    expect(failing(names).map(([status]) => status)).toEqual(failures)
    const refused = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] }
    expect(names).toMatchObject({
      401: { 'application/json': { schema: refused } },
      403: { 'application/json': { schema: refused } },
      404: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      422: { 'application/json': { schema: { required: ['code', 'message', 'errors'] } } },
    })
    expect(Object.keys(kept)).toContain('503')
    expect(Object.keys(schemas)).toContain('Failure')
  })

  test('as Problem Details', async () => {
    const { names, schemas } = await responsesIn('problem')
    expect(failing(names).map(([status]) => status)).toEqual(failures)
    const $ref = '#/components/schemas/Problem'
    for (const [status, content] of failing(names)) {
      const schema = (content as Record<string, { schema: object }>)['application/problem+json']?.schema
      expect(schema, status).toMatchObject(
        status === '422' ? { allOf: [{ $ref }, { required: ['errors'] }] } : { $ref },
      )
    }
    expect(schemas.Problem).toMatchObject({ required: ['type', 'title', 'status', 'code'] })
    expect(schemas).not.toHaveProperty('Failure')
  })

  test('as a function makes them, open unless it says how they are', async () => {
    const open = await responsesIn(() => ({}))
    for (const [, content] of failing(open.names)) expect(content).toEqual({ 'application/json': {} })
    const said = await responsesIn({
      body: ({ code }) => ({ error: code }),
      schema: z.object({ error: z.string() }),
      contentType: 'application/vnd.error+json',
    })
    const schema = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] }
    for (const [, content] of failing(said.names)) {
      const media = content as Record<string, { schema: { $ref?: string } }>
      expect(Object.keys(media)).toEqual(['application/vnd.error+json'])
      const given = media['application/vnd.error+json']!.schema
      const whole = given.$ref === undefined ? given : said.schemas[given.$ref.split('/').at(-1)!]
      expect(whole).toMatchObject(schema)
    }
  })
})

test('a generated client has the failures in that format', async () => {
  const { document } = await responsesIn('problem')
  const client = generateClient(document as never)
  expect(client).toMatch(/export interface Problem \{[^}]*code: string[^}]*title: string/s)
  expect(client).toMatch(/404: Problem\b/)
})
