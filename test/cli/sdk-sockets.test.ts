import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiDocument } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import { type MessageDocument, socketsOf } from '../../cli/sdk/messages.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project } from '../support/cli.ts'

const channel = (address: string, messages: object = {}, more: object = {}) => ({
  address,
  messages,
  bindings: { ws: { method: 'GET' } },
  ...more,
})
const described = (channels: object, schemas: object = {}): MessageDocument =>
  ({
    asyncapi: '3.0.0',
    info: { title: 'Rooms', version: '1.0.0' },
    channels,
    operations: Object.fromEntries(
      Object.keys(channels).map((id) => [`send${id}`, { action: 'send', channel: { $ref: `#/channels/${id}` } }]),
    ),
    components: { schemas },
  }) as never
const get = { get: { responses: {} } }

test('a client of a server without websockets has no code for them', () => {
  const messages = described({ orders: { address: 'orders', messages: {}, bindings: { mqtt: {} } } })
  const without = generateClient({ paths: { '/a': get } } as unknown as ApiDocument, { messages })
  expect(without).not.toMatch(/socket/i)
  expect(without).toBe(generateClient({ paths: { '/a': get } } as unknown as ApiDocument))
})

test('a socket is beside the calls of its path, and only a path of that name is renamed there', () => {
  const paths = { '/a': get, '/a/socket': get, '/b/socket': get }
  const text = generateClient({ paths } as unknown as ApiDocument, { messages: described({ a: channel('/a') }) })
  expect(text).toContain("    socket: (options) => open('/a', false, options),")
  expect(text).toContain('      socket2: {')
  expect(text).toContain('      socket: {')
})

test('the root, parameters and the rest of a path', () => {
  const channels = { root: channel('/'), rest: channel('/files/{wildcard}'), chat: channel('/chat/{room-name}') }
  const text = generateClient({}, { messages: described(channels) })
  expect(text).toContain("socket: (options) => open('/', false, options)")
  expect(text).toContain("byRoomName: (value) => {\n        const path1 = '/chat/' + segment('room-name', value)")
  expect(text).toContain("const path1 = '/files/' + rest(value)")
})

test('members of messages may be called like keywords, and values may have members of that name', () => {
  const names = ['$ref', 'items', 'additionalItems', 'enum', '__proto__']
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const payload = {
    type: 'object',
    properties: { ...properties, value: { const: { additionalItems: 1 } } },
    required: [...names.slice(0, 3), 'value'],
  }
  const channels = { a: channel('/a', { one: { payload } }) }
  const text = generateClient({}, { messages: described(channels) })
  expect(text).toMatch(/^ *\$ref: string$/m)
  expect(text).toMatch(/^ *additionalItems: string$/m)
  expect(text).toMatch(/^ *items: string$/m)
  expect(text).not.toContain('allOf')
  expect(text).toContain('value: { readonly additionalItems: 1 }')
})

describe('schemas of both descriptions are one set of types', () => {
  const Book = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
  const api = (schemas: object) =>
    ({
      paths: {
        '/b': {
          get: {
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } } } },
          },
        },
      },
      components: { schemas },
    }) as unknown as ApiDocument
  const message = { message: { payload: { $ref: '#/components/schemas/Book' } } }
  const clientOf = (there: object, own: object) =>
    generateClient(api(there), { messages: described({ b: channel('/b', message) }, own) })

  test('those that say the same have one name, whatever the dialect', () => {
    const Pair = { type: 'array', prefixItems: [{ type: 'string' }], items: false }
    const Older = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
    const text = clientOf(
      { Book: { ...Book, properties: { title: Pair } } },
      { Book: { ...Book, properties: { title: Older } } },
    )
    expect(text).toContain('socket(options?: SocketOptions): Socket<Book, never>')
    expect(text.match(/export interface Book/g)).toHaveLength(1)
  })

  test('those that differ have two, and so have schemas that refer to them', () => {
    const Author = { type: 'object', properties: { name: { type: 'string' } } }
    const Shelf = { type: 'object', properties: { book: { $ref: '#/components/schemas/Book' } } }
    const other = { ...Book, properties: { title: { type: 'number' } } }
    const merged = socketsOf(api({ Author, Book, Shelf }), described({}, { Author, Book: other, Shelf })).document
    expect(Object.keys(merged.components!.schemas!)).toEqual(['Author', 'Book', 'Shelf', 'BookMessage', 'ShelfMessage'])
    expect(merged.components!.schemas!.ShelfMessage).toEqual({
      type: 'object',
      properties: { book: { $ref: '#/components/schemas/BookMessage' } },
    })
    expect(clientOf({ Book }, { Book: other })).toContain('Socket<BookMessage, ')
  })

  test('a component never has a name that the part for sockets declares', () => {
    const text = generateClient(
      {},
      {
        messages: described(
          { b: channel('/b', { m: { payload: { $ref: '#/components/schemas/Socket' } } }) },
          { Socket: Book },
        ),
      },
    )
    expect(text).toContain('export interface Socket2 {')
  })
})

describe('--url', () => {
  const openapi = { openapi: '3.1.1', info: { title: 'A', version: '1' }, paths: { '/a': get } }
  const asyncapi = described({ b: channel('/b') })
  let project: Project
  let runner: Runner
  beforeAll(() => {
    project = makeProject({})
    runner = startRunner()
  })
  afterAll(() => {
    runner.close()
    project.remove()
  })

  /** Runs the command beside a server that has these files. */
  async function run(files: Record<string, object | string>, args: readonly string[] = []) {
    const server = createServer((req, res) => {
      const file = files[req.url!]
      if (typeof file === 'number') res.statusCode = file
      else if (file === undefined) res.statusCode = 404
      res.end(typeof file === 'string' ? file : JSON.stringify(file))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const ended = await runner.run(project.folder, ['generate-sdk', '--dry-run', '--url', url, ...args])
      return { ...ended, url }
    } finally {
      server.close()
    }
  }

  test('reads both descriptions of a running server', async () => {
    const ended = await run({ '/docs/json': openapi, '/asyncapi.json': asyncapi })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(ended.stdout).toContain(`\`framework generate-sdk --url ${ended.url}\``)
    expect(ended.stdout).toContain("get: (input) => send('GET', '/a', input)")
    expect(ended.stdout).toContain("socket: (options) => open('/b', false, options)")
  })

  test('leaves out paths of which a client could not fill in a parameter, and says so', async () => {
    const paths = Object.fromEntries(
      ['/a/{id}', '/a/{id}.json', '/b-{c}', '/{d}{e}', '/f}{', 'g'].map((path) => [path, { ...get, parameters: [] }]),
    )
    const files = {
      '/docs/json': { ...openapi, paths },
      '/asyncapi.json': described({ a: channel('/a/{id}.json'), w: channel('/w-{v}') }),
    }
    const ended = await run(files)
    expect(ended.stderr).toContain('only a part of its segment: /a/{id}.json, /b-{c}, /{d}{e}, /w-{v}\n')
    expect(ended.stdout.match(/send\('GET', [^)]*\)/g)).toEqual([
      "send('GET', path1, input)",
      "send('GET', '/f%7D%7B', input)",
    ])
    expect(ended.stdout).not.toContain('socket')
    const written = await run(files, ['--no-dry-run', '--out', 'sdk.ts'])
    expect(written.stderr).toContain('sdk.ts: 2 routes of ')
  })

  test('says which one is missing, and where it has looked', async () => {
    const one = await run({ '/docs/json': openapi })
    expect([one.code, one.stderr.includes(`There is no AsyncAPI description at ${one.url}/asyncapi.json`)]).toEqual([
      0,
      true,
    ])
    const other = await run({ '/messages': asyncapi }, ['--asyncapi', '/messages'])
    expect([other.code, other.stderr.includes(`There is no OpenAPI description at ${other.url}/docs/json`)]).toEqual([
      0,
      true,
    ])
    expect(other.stdout).toContain('The routes of Rooms 1.0.0.')
    const none = await run({})
    expect([none.code, none.stderr.includes('register the plugin openapi or asyncapi')]).toEqual([1, true])
  })

  test('writes nothing where a description cannot be read', async () => {
    const denied = await run({ '/docs/json': openapi, '/asyncapi.json': 401 as never })
    expect([denied.code, denied.stdout, denied.stderr.includes('/asyncapi.json was answered with 401')]).toEqual([
      1,
      '',
      true,
    ])
    const page = await run({ '/docs/json': '<html>', '/asyncapi.json': asyncapi })
    expect([page.code, page.stderr.includes('/docs/json is not JSON')]).toEqual([1, true])
    const old = await run({ '/docs/json': { swagger: '2.0' } })
    expect([old.code, old.stderr.includes('not a description of the format openapi 3.x')]).toEqual([1, true])
    const broken = await run({ '/docs/json': { ...openapi, paths: { '/a': null } } })
    expect([broken.code, broken.stdout]).toEqual([1, ''])
    expect(broken.stderr).toContain(`the descriptions of ${broken.url} are not valid`)
  })

  test.each([
    [['--url', 'nowhere'], '--url takes an address such as http://localhost:3000; "nowhere" is not one'],
    [['--url', 'http://localhost:1', '--entry', 'a.ts'], '--entry is for a module, and --url for a running server'],
    [['--asyncapi', '/messages'], '--asyncapi needs --url'],
  ])('%j is refused', async (args, message) => {
    const ended = await runner.run(project.folder, ['generate-sdk', ...args])
    expect([ended.code, ended.stdout]).toEqual([2, ''])
    expect(ended.stderr).toContain(message)
  })
})
