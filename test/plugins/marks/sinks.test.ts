import { SpanStatusCode } from '@opentelemetry/api'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { HttpError, type Logger, memoryQueue, RouteCollection, Server } from 'framework'
import { describeServer } from 'framework/plugins/openapi'
import { Type } from 'typebox'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { freshName, until } from '../../support/queues.ts'
import { keepSpans } from '../../support/spans.ts'
import { lookAt } from '../inspector/support.ts'

const clean: (() => unknown)[] = []
beforeEach(() => vi.stubEnv('NODE_ENV', 'development'))
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one()
  vi.unstubAllEnvs()
})

/** Values that must appear nowhere, in forms that are escaped differently. */
const canary = 'Canary "Süß"+ann@example.org'
const secretCanary = 'hunter2-CANARY-token'

/** The same schema in each library: a person with a number, an address book, and a credential. */
const libraries: { readonly [name: string]: object } = {
  json: {
    type: 'object',
    properties: {
      mail: { type: 'string', sensitive: true, minLength: 5, examples: [canary] },
      age: { type: 'integer' },
      nick: { type: 'object', sensitive: true, properties: { short: { type: 'string', default: canary } } },
      friends: { type: 'array', items: { type: 'string', sensitive: true } },
      pin: { type: 'string', secret: true },
    },
    required: ['mail'],
  },
  typebox: Type.Object({
    mail: Type.String({ sensitive: true, minLength: 5, examples: [canary] }),
    age: Type.Optional(Type.Integer()),
    nick: Type.Optional(Type.Object({ short: Type.String() }, { sensitive: true })),
    friends: Type.Optional(Type.Array(Type.String({ sensitive: true }))),
    pin: Type.Optional(Type.String({ secret: true })),
  }),
  zod: z.object({
    mail: z
      .string()
      .min(5)
      .meta({ sensitive: true, examples: [canary] }),
    age: z.int().optional(),
    nick: z.object({ short: z.string() }).meta({ sensitive: true }).optional(),
    friends: z.array(z.string().meta({ sensitive: true })).optional(),
    pin: z.string().meta({ secret: true }).optional(),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      mail: v.pipe(v.string(), v.minLength(5), v.metadata({ sensitive: true })),
      age: v.optional(v.pipe(v.number(), v.integer())),
      nick: v.optional(v.pipe(v.object({ short: v.string() }), v.metadata({ sensitive: true }))),
      friends: v.optional(v.array(v.pipe(v.string(), v.metadata({ sensitive: true })))),
      pin: v.optional(v.pipe(v.string(), v.metadata({ secret: true }))),
    }),
  ),
  arktype: type({
    mail: type('string >= 5').configure({ sensitive: true } as object),
    'age?': 'number.integer',
    'nick?': type({ short: 'string' }).configure({ sensitive: true } as object),
    'friends?': type('string')
      .configure({ sensitive: true } as object)
      .array(),
    'pin?': type('string').configure({ secret: true } as object),
  }),
}

const person = { mail: canary, nick: { short: canary }, friends: [`1 ${canary}`, canary], pin: secretCanary, age: 7 }

/** How a value may be written: as it is, in JSON, in HTML, in an address. */
const forms = (value: string) => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  String(new URLSearchParams({ '': value })).slice(1),
  value.replaceAll('"', '&quot;'),
  value.toLowerCase(),
]

function expectNoCanary(what: string, text: string) {
  for (const one of [canary, secretCanary].flatMap(forms))
    expect(
      text.includes(one),
      `${what} has ${one}: ${text.slice(Math.max(0, text.indexOf(one) - 300), text.indexOf(one) + 300)}`,
    ).toBe(false)
}

test.each(Object.keys(libraries))('what a schema of %s marks appears in no sink', async (library) => {
  const schema = libraries[library]!
  const lines: string[] = []
  const spans = keepSpans({})
  clean.push(() => spans.end())
  const queue = memoryQueue<unknown>(freshName('people'), { schema } as object)
  await queue.subscribe((payload) => {
    throw new Error(`cannot greet ${(payload as typeof person).mail}`)
  })
  const router = new RouteCollection()
  const seen: unknown[] = []
  router.post('/people', { body: schema }, async (req) => {
    const { mail, pin } = req.body as typeof person
    seen.push(mail)
    req.log.info({ user: { mail, pin }, MAIL: mail }, `greets ${mail} with ${pin}`)
    req.log.warn({ other: mail, list: [mail] }, 'values under other names')
    await queue.publish(req.body)
    throw new Error(`duplicate key (mail)=(${mail})`, { cause: new Error(pin) })
  })
  router.post('/known/:mail', { params: mailOf(library), query: mailOf(library), body: schema }, (req) => {
    throw new HttpError(409, { message: `taken: ${(req.query as { mail: string }).mail}` } as never)
  })
  router.post('/sent', (req) => req.body)
  const server = new Server<{}>({
    ...{ router, gracefulShutdown: false, port: 0, host: '127.0.0.1', drainWindow: 0, exposeErrorDetails: true },
    plugins: {
      log: { level: 'debug', stream: { write: (line: string) => void lines.push(line) } },
      ...{ inspector: true, telemetry: true, openapi: { public: true }, requestContext: true },
    } as object,
    background: { queues: { run: true, ui: true } },
  } as never)
  clean.push(() => server.close())
  await server.listen()
  const inspector = await lookAt(server)
  const send = (url: string, body: unknown, headers = {}) =>
    server.inject.post(url, {
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    } as never)
  const page = { accept: 'text/html' }
  const address = `/known/${encodeURIComponent(canary)}?mail=${encodeURIComponent(canary)}`
  const responses = [
    await send('/people', person),
    await send('/people', person, page),
    await send('/people', { ...person, mail: [canary], pin: { canary } }),
    await send('/people', { ...person, mail: { canary }, friends: canary }, page),
    await send('/people', { ...person, age: canary }, page),
    await send('/known/abc', { ...person, age: 'x' }, page),
  ]
  expect(responses.map((one) => one.statusCode())).toEqual([500, 500, 422, 422, 422, 422])
  expect(seen).toEqual([canary, canary])
  await send(address, person)
  await send('/sent', person)
  const operator = server.services.get('queues').of(queue.name)
  await until(async () => (await operator.counts()).failed === 2, 'both have failed')

  for (const [at, response] of responses.entries()) expectNoCanary(`response ${at}`, response.text())
  expect(lines.length).toBeGreaterThan(8)
  expectNoCanary('log', lines.join(''))
  const told = JSON.stringify(
    spans.all.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  )
  expect(told).toContain(`"code":${SpanStatusCode.ERROR}`)
  expectNoCanary('spans', told)
  const messages = await operator.list()
  expect(messages.length).toBe(2)
  expectNoCanary('operator', JSON.stringify(messages))
  expect(messages[0]!.payload).toMatchObject({ mail: '[redacted]', age: 7 })
  for (const one of ['/queues', `/queues?queue=${queue.name}`, `/queues?queue=${queue.name}&id=${messages[0]!.id}`])
    expectNoCanary(one, (await server.inject.get(one)).text())
  const overview = await inspector.json<{ titles: object; panels: { key: string }[] }>('overview')
  for (const kind of Object.keys(overview.titles)) {
    const list = await inspector.json<{ id: number }[]>(`list?kind=${kind}`)
    expectNoCanary(`inspector ${kind}`, JSON.stringify(list))
    for (const { id } of list)
      expectNoCanary(`inspector ${kind} ${id}`, JSON.stringify(await inspector.json(`activity?id=${id}`)))
  }
  for (const { key } of overview.panels)
    expectNoCanary(`panel ${key}`, JSON.stringify(await inspector.json(`panel?key=${key}`)))
  const document = JSON.stringify(await describeServer(server as never))
  expect(document).toContain('"format":"password"')
  expect(document).toContain('"x-sensitive":true')
  expect(document).toContain('"writeOnly":true')
  expectNoCanary('description', document)
})

/** The schema of an object with the marked member alone. */
function mailOf(library: string): object {
  if (library === 'json') return { type: 'object', properties: { mail: { type: 'string', sensitive: true } } }
  if (library === 'typebox') return Type.Object({ mail: Type.String({ sensitive: true }) })
  if (library === 'zod') return z.object({ mail: z.string().meta({ sensitive: true }) })
  if (library === 'arktype') return type({ mail: type('string').configure({ sensitive: true } as object) })
  return toStandardJsonSchema(v.object({ mail: v.pipe(v.string(), v.metadata({ sensitive: true })) }))
}

describe('the values of a request', () => {
  /** The lines that a handler writes for a request with this body. */
  async function linesOf(handler: (req: { body: { list: string[] }; log: Logger }) => void, list: readonly string[]) {
    const lines: string[] = []
    const router = new RouteCollection()
    const body = { type: 'object', properties: { list: { type: 'array', items: { type: 'string', sensitive: true } } } }
    router.post('/lists', { body }, (req) => handler(req as never))
    const log = { stream: { write: (line: string) => void lines.push(line) } }
    const server = new Server<{}>({ router, plugins: { log }, gracefulShutdown: false } as never)
    clean.push(() => server.close())
    const headers = { 'content-type': 'application/json' }
    await server.inject.post('/lists', { headers, body: JSON.stringify({ list }) } as never)
    return lines
  }

  test('are hidden in the texts that an entry has under names of the framework, and the request stays visible', async () => {
    const names = ['err', 'error', 'original', 'topic', 'channel', 'msg', 'path']
    const lines = await linesOf(
      ({ log }) => {
        for (const name of names) log.info({ [name]: `of ${canary}` })
      },
      [canary, 'POST', 'request', '/lists', 'level', 'true', '","', 'null'],
    )
    expect(lines.length).toBe(names.length + 1)
    expectNoCanary('log', lines.join(''))
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ level: 30, method: 'POST', route: '/lists', status: 200 })
  })

  test('are hidden with all texts around them if they are too many to be remembered', async () => {
    const list = [...Array.from({ length: 1_001 }, (_, at) => `person ${at}`), canary]
    const lines = await linesOf(({ log }) => log.info({ other: canary, count: 3 }, `adds ${canary}`), list)
    expectNoCanary('log', lines.join(''))
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, other: '[redacted]', count: 3, msg: '[redacted]' })
  })

  // Each line took 20 ms when the text was split for each.
  test('cost little for each line, however long they are', async () => {
    const begun = process.cpuUsage()
    const lines = await linesOf(
      ({ log }) => {
        for (let at = 0; at < 500; at++) log.info('a line')
      },
      ['x"é'.repeat(15_000)],
    )
    expect(lines.length).toBe(501)
    expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000)
  })
})
