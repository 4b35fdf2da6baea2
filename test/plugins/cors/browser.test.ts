import { type Middleware, RouteCollection, Server } from 'framework'
import { type CorsOptions, cors } from 'framework/plugins/cors'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, startChromium } from '../../support/chromium.ts'
import { memoryLogger } from '../../support/kernel.ts'

/** What a page can see of one request that it made with fetch. */
interface Seen {
  outcome: 'read' | 'blocked'
  status?: number
  body?: string
  exposed?: string | null
}

describe.skipIf(!hasChromium)('cors in a real browser', () => {
  let browser: Browser
  const servers: Server[] = []
  const pages = new Map<string, Page>()
  /** What the server was asked, as it saw it. */
  let asked: string[] = []
  let preflights = 0
  let api: Record<'open' | 'named' | 'credentials' | 'none', string>

  async function start(options?: CorsOptions): Promise<string> {
    const router = new RouteCollection()
    const note = (method: string, path: string) => asked.push(`${method} ${path}`)
    router.get('/', (_req, res) => res.html('<!doctype html><title>page</title>'))
    router.get('/data', (req, res) => {
      note('GET', '/data')
      return res
        .header('x-secret', 's')
        .header('x-shown', 'v')
        .ok({ cookie: req.headers.cookie ?? null })
    })
    router.post('/data', (req) => {
      note('POST', '/data')
      return { got: req.body ?? null }
    })
    router.put('/data', () => note('PUT', '/data'))
    router.delete('/data', () => note('DELETE', '/data'))
    router.get('/moved', (_req, res) => res.redirect('/data'))
    router.get('/broken', () => {
      throw new Error('broken')
    })
    router.get('/login', (_req, res) => res.appendHeader('set-cookie', 'sid=1; Path=/; SameSite=Lax').ok())
    const countPreflights: Middleware = (req, _res, next) => {
      if (req.method === 'OPTIONS') preflights++
      return next()
    }
    const plugins = options === undefined ? [countPreflights] : [countPreflights, cors(options)]
    const server = new Server({
      router,
      port: 0,
      host: '127.0.0.1',
      logger: memoryLogger(),
      gracefulShutdown: false,
      plugins,
    })
    servers.push(server)
    const { port } = await server.listen()
    return `http://localhost:${port}`
  }

  /** A page of that origin. */
  async function pageOf(origin: string): Promise<Page> {
    let page = pages.get(origin)
    if (page === undefined) {
      page = await browser.newPage()
      await page.goto(`${origin}/`)
      pages.set(origin, page)
    }
    return page
  }

  async function ask(from: string, url: string, init: Record<string, unknown> = {}): Promise<Seen> {
    const page = await pageOf(from)
    return page.evaluate(
      async ([url, init]) => {
        try {
          const res = await fetch(url, init)
          return {
            outcome: 'read' as const,
            status: res.status,
            body: await res.text(),
            exposed: res.headers.get('x-shown'),
          }
        } catch {
          return { outcome: 'blocked' as const }
        }
      },
      [url, init] as const,
    )
  }

  let good: string
  let evil: string

  beforeAll(async () => {
    browser = await startChromium()
    good = await start()
    evil = (await start()).replace('localhost', '127.0.0.1')
    api = {
      open: await start({ origin: '*' }),
      named: await start({ origin: [good], exposedHeaders: ['x-shown'], maxAge: 600 }),
      credentials: await start({ origin: [good], credentials: true }),
      none: await start(),
    }
  })
  afterAll(async () => {
    await browser?.close()
    await Promise.all(servers.map((server) => server.close()))
  })

  const json = { 'content-type': 'application/json' }

  test.each<[string, 'good' | 'evil', keyof typeof api, string, Record<string, unknown>, Seen['outcome'], string[]]>([
    [
      'no plugin: not even a simple request can be read, although it arrives',
      'good',
      'none',
      '/data',
      {},
      'blocked',
      ['GET /data'],
    ],
    ['no plugin: a preflight keeps everything else away', 'good', 'none', '/data', { method: 'PUT' }, 'blocked', []],
    ['*: anyone reads', 'evil', 'open', '/data', {}, 'read', ['GET /data']],
    [
      '*: anyone sends JSON',
      'evil',
      'open',
      '/data',
      { method: 'POST', headers: json, body: '{}' },
      'read',
      ['POST /data'],
    ],
    ['*: but no one with credentials', 'good', 'open', '/data', { credentials: 'include' }, 'blocked', ['GET /data']],
    ['a named origin reads', 'good', 'named', '/data', {}, 'read', ['GET /data']],
    ['another one does not', 'evil', 'named', '/data', {}, 'blocked', ['GET /data']],
    ['another one sends nothing that needs a preflight', 'evil', 'named', '/data', { method: 'DELETE' }, 'blocked', []],
    [
      'a custom header is allowed as asked for',
      'good',
      'named',
      '/data',
      { headers: { 'x-custom': '1' } },
      'read',
      ['GET /data'],
    ],
    ['a redirect is followed', 'good', 'named', '/moved', {}, 'read', ['GET /data']],
    ['a 404 can be read', 'good', 'named', '/nowhere', {}, 'read', []],
    ['a 500 can be read', 'good', 'named', '/broken', {}, 'read', []],
    [
      'credentials for the named origin',
      'good',
      'credentials',
      '/data',
      { credentials: 'include' },
      'read',
      ['GET /data'],
    ],
    [
      'credentials for no one else',
      'evil',
      'credentials',
      '/data',
      { credentials: 'include' },
      'blocked',
      ['GET /data'],
    ],
  ])('%s', async (_, from, to, path, init, outcome, reached) => {
    asked = []
    const seen = await ask(from === 'good' ? good : evil, api[to] + path, init)
    expect(seen.outcome).toBe(outcome)
    // A preflight that cors responds to never gets as far as the routes.
    expect(asked).toEqual(reached)
  })

  test('a header is shown to scripts only when it is exposed', async () => {
    expect((await ask(good, `${api.named}/data`)).exposed).toBe('v')
    expect((await ask(good, `${api.open}/data`)).exposed).toBeNull()
  })

  test('a preflight is remembered for maxAge', async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${good}/`)
    preflights = 0
    for (const _ of [1, 2, 3]) {
      await page.evaluate((url) => fetch(url, { method: 'PUT' }).then((res) => res.text()), `${api.named}/data`)
    }
    expect(preflights).toBe(1)
  })

  test('a cookie goes along with credentials, and only then', async () => {
    const page = await pageOf(good)
    await page.evaluate((url) => fetch(url, { credentials: 'include' }), `${api.credentials}/login`)
    expect((await ask(good, `${api.credentials}/data`, { credentials: 'include' })).body).toBe('{"cookie":"sid=1"}')
    expect((await ask(good, `${api.credentials}/data`)).body).toBe('{"cookie":null}')
  })
})
