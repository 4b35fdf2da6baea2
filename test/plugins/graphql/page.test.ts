import { RouteCollection, Server } from 'framework'
import type { GraphqlOptions } from 'framework/plugins/graphql'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'
import { memoryLogger } from '../../support/kernel.ts'

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const servers: Server[] = []
const env = process.env.NODE_ENV
afterEach(() => {
  process.env.NODE_ENV = env
})
afterAll(() => Promise.all(servers.map((server) => server.close())))

async function* ticks(): AsyncGenerator<object> {
  for (let tick = 1; tick <= 3; tick++) yield { tick }
}

function serverWith(options: GraphqlOptions = {}): Server {
  const schema = {
    typeDefs: 'type Query { hello(name: String): String } type Subscription { tick: Int }',
    resolvers: {
      Query: { hello: (_: unknown, { name }: { name?: string }) => `hello ${name ?? 'world'} <b>` },
      Subscription: { tick: { subscribe: ticks } },
    },
  }
  const server = new Server({
    router: new RouteCollection(),
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    gracefulShutdown: false,
    logger: memoryLogger(),
    plugins: { helmet: true, csrf: true },
    graphql: { schema, ...options },
  })
  servers.push(server)
  return server
}

describe('clients that receive the page', () => {
  const get = (server: Server, accept: string, query = {}) =>
    server.inject.get('/graphql', { headers: { accept }, query })

  test('a browser does, and no one else', async () => {
    const server = serverWith()
    const page = await get(server, browserAccept)
    page
      .assertStatus(200)
      .assertHeader('content-type', 'text/html; charset=utf-8')
      .assertHeader('cache-control', 'no-store')
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      expect((await get(server, accept)).headers()['content-type']).toContain('application/json')
    }
  })

  test('none does in production, unless it is enabled', async () => {
    process.env.NODE_ENV = 'production'
    const answer = await get(serverWith(), browserAccept, { query: '{ hello }' })
    expect([answer.statusCode(), answer.headers()['content-type']]).toEqual([400, 'application/json; charset=utf-8'])
    expect((await get(serverWith(), 'text/html')).statusCode()).toBe(400)
    expect((await get(serverWith({ graphiql: true }), browserAccept)).text()).toContain('<title>GraphiQL')
    const server = serverWith()
    expect((await server.inject.get('/graphql/assets/graphiql-3.9.0.min.js')).statusCode()).toBe(404)
  })

  test('its files come from the server, each under a name of its own, to be kept', async () => {
    const server = serverWith()
    const html = (await get(server, browserAccept)).text()
    const urls = [...html.matchAll(/(?:src|href)="(graphql\/[^"]+)"/g)].map(([, url]) => url!)
    expect(urls).toHaveLength(5)
    expect(html).not.toMatch(/https?:\/\//)
    for (const url of urls) {
      const file = await server.inject.get(`/${url}`)
      file.assertStatus(200).assertHeader('cache-control', 'public, max-age=31536000, immutable')
      expect(file.headers()['content-type']).toMatch(url.endsWith('.css') ? /^text\/css/ : /^text\/javascript/)
    }
    for (const name of ['nothing.js', '..%2f..%2fpackage.json', '__proto__', 'constructor']) {
      expect((await server.inject.get(`/graphql/assets/${name}`)).statusCode()).toBe(404)
    }
  })
})

describe.skipIf(!hasChromium)('the page in a real browser', () => {
  let browser: Browser
  let origin: string

  beforeAll(async () => {
    browser = await startChromium()
    const { port } = await serverWith().listen()
    origin = `http://127.0.0.1:${port}`
  })
  afterAll(() => browser?.close())

  async function open(
    query: string,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 700 } })
    const problems = await watch(page, origin)
    await page.goto(`${origin}/graphql?query=${encodeURIComponent(query)}`)
    await page.waitForSelector('.graphiql-execute-button')
    return { page, problems }
  }

  test.each(['light', 'dark'] as const)('a query is answered, with nothing asked of others (%s)', async (scheme) => {
    const { page, problems } = await open('{ hello(name: "Ada") }', scheme)
    await page.click('.graphiql-execute-button')
    await page.waitForFunction(() => document.querySelector('.result-window')?.textContent?.includes('hello Ada <b>'))
    const background = await page.evaluate(
      () => getComputedStyle(document.querySelector('.graphiql-container')!).backgroundColor,
    )
    const [lightness] = (/(\d+)(?:\.\d+)?/.exec(background.replace(/^\w+\(/, '')) ?? ['0']).map(Number)
    if (scheme === 'light') expect(lightness).toBeGreaterThan(200)
    else expect(lightness).toBeLessThan(100)
    const shot = process.env.GRAPHIQL_SHOT
    if (shot) await page.screenshot({ path: `${shot}-${scheme}.png` })
    expect(problems).toEqual([])
    await page.close()
  })

  test('the schema is known: its documentation is shown', async () => {
    const { page, problems } = await open('{ hello }')
    await page.click('[aria-label="Show Documentation Explorer"]')
    await page.waitForFunction(() => document.querySelector('.graphiql-doc-explorer')?.textContent?.includes('Query'))
    expect(problems).toEqual([])
    await page.close()
  })

  test('a subscription is followed to its end', async () => {
    const { page, problems } = await open('subscription { tick }')
    await page.click('.graphiql-execute-button')
    await page.waitForFunction(() => document.querySelector('.result-window')?.textContent?.includes('"tick": 3'))
    expect(problems).toEqual([])
    await page.close()
  })
})
