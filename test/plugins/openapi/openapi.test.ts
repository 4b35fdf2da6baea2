import { type OpenApiOptions, PolicyManager, RouteCollection, Server, type ServerOptions } from 'framework'
import { openapi } from 'framework/plugins'
import { describeServer } from 'framework/plugins/openapi'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { memoryLogger } from '../../support/kernel.ts'
import { problemsOf } from '../../support/openapi.ts'

const open: Server[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

function makeServer(options: OpenApiOptions | true = true, more: ServerOptions = {}) {
  const logger = memoryLogger()
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    router: new RouteCollection(),
    logger,
    ...more,
    plugins: { openapi: options, ...more.plugins } as {},
  })
  open.push(server)
  return { server, log: logger.entries }
}

const service = (server: Server) => server.services.get('openapi')
const handler = () => {}

describe('the document', () => {
  test('is JSON and YAML of the routes as they are', async () => {
    const { server } = makeServer({ info: { title: 'Books', version: '2.0.0' } })
    server.router.get('/books/:id', handler)
    const json = await server.inject.get('/docs/json')
    json
      .assertStatus(200)
      .assertHeader('content-type', 'application/json; charset=utf-8')
      .assertHeader('cache-control', 'no-cache')
    expect(json.body()).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'Books', version: '2.0.0' },
      paths: { '/books/{id}': {} },
    })
    const yaml = await server.inject.get('/docs/yaml')
    yaml.assertStatus(200).assertHeader('content-type', 'application/yaml; charset=utf-8')
    expect(parse(yaml.text())).toEqual(json.body())
    expect(await problemsOf(service(server).document())).toEqual([])
  })

  test('has QUERY, which OpenAPI 3.1 does not know, as an extension', async () => {
    const { server } = makeServer()
    server.router.query('/books', { body: { type: 'object', properties: { year: { type: 'integer' } } } }, handler)
    await server.ready()
    const document = service(server).document()
    expect(document.paths['/books']?.['x-query']).toMatchObject({ operationId: 'queryBooks', requestBody: {} })
    expect(await problemsOf(document)).toEqual([])
  })

  test('changes with the routes and not without', async () => {
    const { server } = makeServer()
    const paths = async () => Object.keys(((await server.inject.get('/docs/json')).body() as { paths: object }).paths)
    server.router.get('/a', handler)
    expect(await paths()).toEqual(['/a'])
    const before = service(server).document()
    expect(service(server).document()).toBe(before)
    server.router.get('/b', handler)
    expect(await paths()).toEqual(['/a', '/b'])
    expect(service(server).document()).not.toBe(before)
    server.router.clearRoutes()
    expect(await paths()).toEqual([])
  })

  test('is not sent to a client that has it, in each form', async () => {
    const { server } = makeServer()
    for (const path of ['/docs/json', '/docs/yaml', '/docs', '/docs/ui/page.js', '/docs/ui/page.css']) {
      const first = await server.inject.get(path)
      const etag = String(first.headers().etag)
      expect([path, etag]).toEqual([path, expect.stringMatching(/^(W\/)?".+"$/)])
      const again = await server.inject.get(path, { headers: { 'if-none-match': etag } })
      again.assertStatus(304)
      expect(again.raw()).toHaveLength(0)
      expect((await server.inject.request('HEAD', path)).statusCode()).toBe(200)
    }
    const json = await server.inject.get('/docs/json')
    server.router.get('/new', handler)
    const changed = await server.inject.get('/docs/json', { headers: { 'if-none-match': String(json.headers().etag) } })
    changed.assertStatus(200)
  })

  test('a late faulty route is not in it', async () => {
    const { server } = makeServer()
    await server.ready()
    server.router.get('/good', handler)
    server.router.get('/bad', { query: { type: 'nonsense' } }, handler)
    expect(Object.keys(service(server).document().paths)).toEqual(['/good'])
  })

  test('YAML is read as the same by readers of 1.1 and of 1.2', async () => {
    const { server } = makeServer()
    const odd = [
      'no',
      'Yes',
      'on',
      'y',
      'null',
      '~',
      '',
      ' a ',
      '2024-01-01',
      '2001-12-14t21:59:43.10-05:00',
      '12:30:45',
      '0x1F',
      '0o7',
      '017',
      '1_000',
      '1e3',
      '.inf',
      '-',
      '? a',
      '# b',
      'a: b',
      '<<',
      '=',
      '@at',
      '`',
      '*alias',
      '&anchor',
      '!tag',
      '%dir',
      'line\nbreak\n',
      'tab\t',
      '\u0085',
      '\u2028',
      '"quoted"',
      "it's",
      '\\',
      '{a}',
      '[b]',
      'ü😀',
      'x'.repeat(300),
      '...',
      '---',
    ]
    const properties = Object.fromEntries(odd.map((name) => [name, { const: name }]))
    server.router.post('/odd', { body: { type: 'object', properties } }, handler)
    const [json, yaml] = [await server.inject.get('/docs/json'), await server.inject.get('/docs/yaml')]
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(yaml.text(), { version, merge: version === '1.1' })).toEqual(json.body())
    }
    expect(yaml.text()).not.toMatch(/&a\d|\*a\d/)
  })

  test('reports once what it does not describe, with the route', async () => {
    const { server, log } = makeServer()
    const silent = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } }
    server.router.post('/a', { body: silent }, handler)
    await server.inject.get('/docs/json')
    server.router.get('/b', handler)
    await server.inject.get('/docs/json')
    expect(log.filter(({ level }) => level === 'warn').map(({ message, fields }) => [fields.route, message])).toEqual([
      ['POST /a', 'the description of POST /a is incomplete: body: a schema of "acme" without Standard JSON Schema'],
    ])
  })

  test('is not to be had from the service before boot', async () => {
    const { server } = makeServer()
    expect(() => service(server).document()).toThrow('the description of a server is not available before boot')
  })
})

describe('where it is', () => {
  test('below a path and a prefix of one’s own', async () => {
    const { server } = makeServer({ path: '/internal/api' })
    expect((await server.inject.get('/internal/api/json')).statusCode()).toBe(200)
    expect((await server.inject.get('/docs')).statusCode()).toBe(404)
    const scoped = new Server({ router: new RouteCollection() })
    open.push(scoped)
    scoped.get('/shown', handler)
    scoped.register(openapi({ path: '/spec' }), { prefix: '/admin' })
    expect((await scoped.inject.get('/admin/spec/json')).body()).toMatchObject({ paths: { '/shown': {} } })
    expect((await scoped.inject.get('/admin/spec')).text()).toContain('"spec/ui/page.js')
  })

  test('page and document are after the middlewares and the policy of the options', async () => {
    const policies = new PolicyManager({
      docs: { read: (_user, req) => (req as { headers: Record<string, string> }).headers['x-key'] === 'k' },
    })
    const { server } = makeServer({
      policy: { manager: policies, scope: 'docs', handler: 'read' },
      middlewares: [
        (_req, res, next) => {
          res.header('x-seen', '1')
          return next()
        },
      ],
    })
    for (const path of ['/docs', '/docs/json', '/docs/yaml', '/docs/ui/page.js']) {
      ;(await server.inject.get(path)).assertStatus(401)
      ;(await server.inject.get(path, { headers: { 'x-key': 'k' } })).assertStatus(200).assertHeader('x-seen', '1')
    }
  })

  test.each<[OpenApiOptions, string]>([
    [{ path: 'docs' }, 'openapi.path'],
    [{ path: '/' }, 'openapi.path'],
    [{ path: '/docs/' }, 'openapi.path'],
    [{ path: '/:a' }, 'openapi.path'],
    [{ path: '/a/*' }, 'openapi.path'],
    [{ ui: 'yes' as never }, 'openapi.ui'],
    [{ info: 5 as never }, 'openapi.info'],
    [{ info: { title: 5 as never } }, 'openapi.info.title'],
    [{ info: { titel: 'x' } as never }, 'openapi.info.titel'],
    [{ servers: [{}] as never }, 'openapi.servers'],
    [{ tags: ['a'] as never }, 'openapi.tags'],
    [{ tags: [{}] as never }, 'openapi.tags'],
    [{ security: {} as never }, 'openapi.security'],
    [{ components: [] as never }, 'openapi.components'],
    [{ components: { schemas: { 'a b': {} } } }, 'openapi.components.schemas'],
    [{ include: true as never }, 'openapi.include'],
    [{ middlewares: [5] as never }, 'openapi.middlewares'],
    [{ policy: undefined }, 'openapi.policy" is undefined'],
    [{ middlewares: undefined }, 'openapi.middlewares" is undefined'],
    [{ titel: 'x' } as never, 'openapi.titel'],
    [{ info: { contact: { mail: 'a@b.c' } } as never }, 'openapi.info.contact.mail'],
    [{ info: { license: { url: 'https://a.example' } } as never }, 'openapi.info.license.name'],
    [{ servers: [{ url: '/', desc: 'x' }] as never }, 'openapi.servers[0].desc'],
    [{ servers: [{ url: '/', variables: { a: { enum: ['x'] } as never } }] }, 'openapi.servers[0].variables.a.default'],
    [{ tags: [{ name: 'a', externalDocs: {} as never }] }, 'openapi.tags[0].externalDocs.url'],
    [{ security: [{ key: 'read' }] as never }, 'openapi.security[0].key'],
    [{ security: [{ 'a key': [] }] }, 'openapi.security[0]'],
    [{ components: { schema: {} } as never }, 'Did you mean "schemas"?'],
    [{ externalDocs: { url: 'a b' } }, 'openapi.externalDocs.url'],
    [{ failures: 'no' as never }, 'openapi.failures'],
  ])('a wrong option %j fails where the plugin is registered', (options, name) => {
    const thrown = expect.objectContaining({ code: 'OptionError', message: expect.stringContaining(name) })
    expect(() => makeServer(options)).toThrow(thrown)
  })

  test('wrong options of a description without the plugin fail as well', () => {
    const { server } = makeServer()
    expect(() => describeServer(server, { info: { titel: 'x' } as never, failures: 5 as never })).toThrow(
      /^2 options are wrong:\n- Unknown option "describeServer\.info\.titel"\. Did you mean "title"\?.*\n- the option "describeServer\.failures" is 5/,
    )
  })

  test('extensions go into the document', () => {
    const { server } = makeServer()
    const document = describeServer(server, {
      info: { title: 'A', version: '1', 'x-a': 1, contact: { name: 'Ada', 'x-b': 2 } as object },
      servers: [{ url: '/', 'x-c': [3] }],
    })
    expect(document.info).toEqual({ title: 'A', version: '1', 'x-a': 1, contact: { name: 'Ada', 'x-b': 2 } })
    expect(document.servers).toEqual([{ url: '/', 'x-c': [3] }])
  })
})

describe('the page', () => {
  test('is made of files of this server, with a policy of its own where there is none', async () => {
    const { server } = makeServer({ info: { title: '</title><script>alert(1)</script>' } })
    const page = await server.inject.get('/docs')
    page.assertStatus(200).assertHeader('content-type', 'text/html; charset=utf-8')
    expect(page.headers()['content-security-policy']).toMatch(/script-src 'self'; style-src 'self';/)
    expect(page.headers()['content-security-policy']).not.toContain('unsafe')
    expect(page.text()).toContain('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>')
    const links = [...page.text().matchAll(/(?:src|href)="(docs\/ui\/[^"]+)"/g)].map(
      ([, link]) => `/${link!.replaceAll('&amp;', '&')}`,
    )
    expect(links).toHaveLength(2)
    for (const link of links) {
      const file = await server.inject.get(link)
      file
        .assertStatus(200)
        .assertHeader('cache-control', 'public, max-age=31536000, immutable')
        .assertHeader('x-content-type-options', 'nosniff')
      expect(file.headers()['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/)
      expect((await server.inject.get(link.replace(/v=.*/, 'v=old'))).headers()['cache-control']).toBe('no-cache')
    }
    expect(page.text()).not.toMatch(/https?:|<style|<script>| style=| on\w+=/)
  })

  test('a trailing slash leads to it, relative, so that a prefix of a proxy stays', async () => {
    const { server } = makeServer()
    const slashed = await server.inject.get('/docs/')
    slashed.assertStatus(308).assertHeader('location', '../docs')
  })

  test.each([
    'package.json',
    'index.html',
    '..%2Fpackage.json',
    'page.js.map',
    '__proto__',
    'constructor',
  ])('no other file is served: %s', async (file) => {
    const { server } = makeServer()
    expect((await server.inject.get(`/docs/ui/${file}`)).statusCode()).toBe(404)
  })

  test('is not there when it is turned off', async () => {
    const { server } = makeServer({ ui: false })
    expect((await server.inject.get('/docs')).statusCode()).toBe(404)
    expect((await server.inject.get('/docs/ui/page.js')).statusCode()).toBe(404)
    expect((await server.inject.get('/docs/json')).statusCode()).toBe(200)
  })
})

describe('decorators', () => {
  test('@validate and @serialize are described', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue()
    const { routes } = await import('../fixtures/openapi-controller.ts')
    const server = new Server({ router: routes() })
    open.push(server)
    const document = describeServer(server)
    expect(await problemsOf(document)).toEqual([])
    const body = { 'application/json': { schema: { $ref: '#/components/schemas/NewUser' } } }
    expect(document.paths['/people']?.post).toMatchObject({
      requestBody: { required: true, content: body },
      parameters: [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }],
      responses: {
        200: { content: body },
        409: { $ref: '#/components/responses/ValidationError', description: 'not now' },
        422: { $ref: '#/components/responses/ValidationError' },
      },
    })
    expect(Object.keys(document.paths['/people/only']!.post!.responses)).toEqual(['200', '400', '413', '415'])
    vi.restoreAllMocks()
  })
})
