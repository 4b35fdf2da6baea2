import { HttpError, RouteCollection, Server, type ServerOptions } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { setExposure } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { memoryLogger } from '../../../support/kernel.ts'

const servers: Server[] = []
afterEach(async () => {
  setExposure(false)
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server.close()
})

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

function started(options: ServerOptions): Server {
  const server = new Server<{}>({ logger: memoryLogger(), router: new RouteCollection(), ...options } as {})
  servers.push(server)
  return server
}

async function ask(options: ServerOptions, headers: Record<string, string> = browser, path = '/boom/1') {
  const server = started(options)
  server.get('/boom/:id', () => {
    throw new Error('<script>alert(1)</script>', { cause: new TypeError('the "cause"') }) // here it is thrown
  })
  server.get('/gone', () => {
    throw new HttpError(410)
  })
  return server.inject.get(path, { headers })
}

/** The headings with places whose lines are shown. */
const shownPlaces = (page: string) => Array.from(page.matchAll(/<h2><a [^>]*>([^<]*)/g), ([, place]) => place)

describe('a browser that meets a mistake while developing', () => {
  test('gets a page with the message, the lines of the file, the stack and the cause', async () => {
    const res = await ask({ exposeErrorDetails: true })
    res.assertStatus(500)
    expect(res.headers()['content-type']).toBe('text/html; charset=utf-8')
    const page = res.text()
    expect(page).toContain('Error: &lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).toMatch(/class="here">.*here it is thrown/)
    expect(page).toContain('Caused by TypeError: the &quot;cause&quot;')
    expect(page).toContain('GET /boom/1 · route /boom/:id')
    expect(page).toContain('<a href="vscode://file/')
  })

  test('gets nothing that runs, and nothing from elsewhere', async () => {
    const res = await ask({ exposeErrorDetails: true, plugins: { helmet: true } })
    const page = res.text()
    expect(page).not.toMatch(/<script|\son\w+=|src=|url\(|@import/i)
    expect(page.match(/href="\w+:/g)).toEqual(['href="vscode:', 'href="vscode:'])
    expect(res.headers()['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+';/)
    expect(res.headers()['cache-control']).toBe('no-store')
  })

  test.each(['default', 'problem', () => ({ a: 1 })] as const)('whatever the format, %s', async (errorFormat) => {
    const res = await ask({ exposeErrorDetails: true, errorFormat: errorFormat as 'default' })
    expect(res.headers()['content-type']).toBe('text/html; charset=utf-8')
  })

  test('and an HttpError has its own response', async () => {
    const res = await ask({ exposeErrorDetails: true }, browser, '/gone')
    expect(res.headers()['content-type']).toBe('application/json; charset=utf-8')
  })
})

describe('a browser that asks for something else than it may', () => {
  const Seats = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] } as const
  async function asking(method: 'get' | 'post', path: string, headers: Record<string, string> = browser, more = {}) {
    const server = started({ exposeErrorDetails: true, ...more })
    server.get('/shows/:show', () => 'hamlet')
    server.post('/shows/:show/seats', { body: Seats }, () => 'taken')
    return server.inject[method](path, { headers, ...(method === 'post' && { body: { password: 'open-sesame' } }) })
  }

  test('gets the nearest routes, by path and by method', async () => {
    const miss = (await asking('get', '/show/hamlet')).assertStatus(404).text()
    expect(miss).toContain('RouteNotFoundError: Cannot GET /show/hamlet')
    expect(miss).toContain('<li><code>GET /shows/:show</code></li>')
    const wrong = (await asking('post', '/shows/hamlet')).assertStatus(405).text()
    expect(wrong).toContain('<code>GET /shows/:show</code>')
    expect((await asking('get', '/entirely-different-thing')).text()).toContain('The server has 2 routes')
  })

  test('gets the members of an invalid body, and the request without its secrets', async () => {
    const headers = { ...browser, authorization: 'Bearer open-sesame' }
    const page = (await asking('post', '/shows/hamlet/seats', headers)).assertStatus(422).text()
    expect(page).toMatch(/<td>body<\/td><td><code>\/seats<\/code><\/td>/)
    expect(page).toContain('&quot;show&quot;: &quot;hamlet&quot;')
    expect(page).toContain('[redacted]')
    expect(page).not.toContain('open-sesame')
  })

  test('any other client gets the nearest routes as a member, in both formats, and no stack', async () => {
    const nearest = ['GET /shows/:show']
    const res = await asking('get', '/show/hamlet', {})
    res.assertBodyDeepEqual({
      code: 'RouteNotFoundError',
      message: 'ROUTE_NOT_FOUND: Cannot GET /show/hamlet',
      nearest,
    })
    res.assertStatus(404)
    expect((await asking('get', '/show/hamlet', {}, { errorFormat: 'problem' })).body()).toMatchObject({ nearest })
  })

  test('in production and without the option, the response is as ever', async () => {
    const expected = { code: 'RouteNotFoundError', message: 'ROUTE_NOT_FOUND: Cannot GET /show/hamlet' }
    ;(await asking('get', '/show/hamlet', browser, { exposeErrorDetails: false })).assertBodyDeepEqual(expected)
    vi.stubEnv('NODE_ENV', 'production')
    ;(await asking('get', '/show/hamlet')).assertBodyDeepEqual(expected)
    const invalid = await asking('post', '/shows/hamlet/seats')
    expect(Object.keys(invalid.body<object>())).toEqual(['code', 'message', 'cause', 'errors'])
  })
})

test.each([
  ['', 'vscode://file/'],
  ['vim', 'vscode://file/'],
  ['/usr/local/bin/cursor --wait', 'cursor://file/'],
  ['ide:{file}?l={line}', 'ide:/'],
])('a place opens in the editor of EDITOR=%s', async (editor, address) => {
  vi.stubEnv('EDITOR', editor)
  expect((await ask({ exposeErrorDetails: true })).text()).toContain(`<h2><a href="${address}`)
})

describe('any other client', () => {
  test.each([
    { accept: '*/*' },
    {},
    { accept: 'application/json, text/html' },
    { accept: 'text/html;q=0' },
  ])('that asks for %j gets message, stack and cause as JSON', async (headers) => {
    const res = await ask({ exposeErrorDetails: true }, headers as Record<string, string>)
    expect(res.body()).toMatchObject({
      code: 'Error',
      message: '<script>alert(1)</script>',
      stack: expect.stringContaining('development-page.test.ts'),
      cause: { name: 'TypeError' },
    })
  })
})

describe('nothing is said', () => {
  test.each([browser, { accept: '*/*' }])('in production, whatever the option says: %j', async (headers) => {
    vi.stubEnv('NODE_ENV', 'production')
    for (const exposeErrorDetails of [true, 'auto'] as const)
      (await ask({ exposeErrorDetails }, headers)).assertStatus(500).assertHeader('content-length', 0)
  })

  test('without the option, and with auto outside of development', async () => {
    ;(await ask({})).assertStatus(500).assertHeader('content-length', 0)
    vi.stubEnv('NODE_ENV', 'test')
    ;(await ask({ exposeErrorDetails: 'auto' })).assertStatus(500).assertHeader('content-length', 0)
    vi.stubEnv('NODE_ENV', 'development')
    expect((await ask({ exposeErrorDetails: 'auto' })).text()).toContain('<!doctype html>')
  })
})

test('a message cannot choose the file that is shown', async () => {
  const server = started({ exposeErrorDetails: true })
  server.get('/', () => {
    throw new Error(`bad\n    at x (${process.cwd()}/package.json:1:1)\n    at x (${process.cwd()}/server.ts:1:1)`)
  })
  const page = (await server.inject.get('/', { headers: browser })).text()
  expect(shownPlaces(page)).toEqual([expect.stringContaining('development-page.test.ts')])
})

test('a stack that does not have the message chooses no file either', async () => {
  const server = started({ exposeErrorDetails: true })
  const forged = `bad\n    at x (${process.cwd()}/test/runtimes/run.mjs:1:1)`
  server.get('/changed', () => {
    throw Object.assign(new Error('changed since'), { stack: `Error: ${forged}` })
  })
  server.get('/appended', () => {
    const error = new Error('outer')
    error.stack = `Error: outer\ncaused by: Error: ${forged}`
    throw error
  })
  for (const path of ['/changed', '/appended']) {
    const page = (await server.inject.get(path, { headers: browser })).text()
    expect(shownPlaces(page)).toEqual([])
  }
})

test('an error that cannot be looked at gets an empty response', async () => {
  const server = started({ exposeErrorDetails: true })
  server.get('/', () => {
    const error = new Error('x')
    Object.defineProperty(error, 'message', {
      get() {
        throw new Error('no')
      },
    })
    throw error
  })
  ;(await server.inject.get('/', { headers: browser })).assertStatus(500).assertHeader('content-length', 0)
})
