import { definePlugin, PolicyManager, RouteCollection, Server } from 'framework'
import { openapi } from 'framework/plugins'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'

const Book = { $id: 'Book', type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const

/** A server with the page and one route that returns its request. */
async function listen(plugins: object, register: (server: Server) => unknown = () => {}): Promise<Server> {
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    router: new RouteCollection(),
    gracefulShutdown: false,
    plugins: { ...plugins, log: false } as {},
  })
  server.post('/books/:id', { body: Book, apidoc: { summary: 'Put <b>it</b>' } }, (req, res) =>
    res.created({ id: req.params.id, ...req.body }),
  )
  register(server)
  await server.listen()
  return server
}

describe.skipIf(!hasChromium)('the page in a browser', () => {
  let browser: Browser
  const open: Server[] = []
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()))
  })

  /** Opens a page; `wrong` lists forbidden events. */
  async function visit(url: string, colorScheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage({ colorScheme })
    const wrong = await watch(page, new URL(url).origin)
    await page.goto(url)
    await page.waitForSelector('.opblock-post')
    return { page, wrong }
  }

  async function tryIt(page: Page): Promise<string> {
    await page.locator('.opblock-post .opblock-summary-control').click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.locator('.parameters input').first().fill('7')
    await page.locator('textarea.body-param__text').fill('{"title":"Emma"}')
    await page.getByRole('button', { name: 'Execute' }).click()
    return page.locator('.live-responses-table .response-col_description code').first().innerText()
  }

  test.each([
    ['light', 'rgb(255, 255, 255)', {}],
    ['dark', 'rgb(28, 32, 34)', {}],
    ['light', 'rgb(255, 255, 255)', { helmet: true }],
    ['dark', 'rgb(28, 32, 34)', { helmet: true, compression: true }],
  ] as const)('in %s colours (%s) under the policy of %j it shows the routes, and they can be tried', async (scheme, background, plugins) => {
    const server = await listen({ ...plugins, openapi: { info: { title: 'Books <i>' } } })
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`, scheme)
    expect(await page.title()).toBe('Books <i>')
    expect(await page.locator('h1.title, h2.title').first().innerText()).toContain('Books <i>')
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(background)
    expect(JSON.parse(await tryIt(page))).toEqual({ id: '7', title: 'Emma' })
    expect(wrong).toEqual([])
    await page.close()
  })

  test('markup of a description is shown, and its scripts are neither run nor reported by the policy', async () => {
    const description = `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" onload="document.title=1" onerror="document.title=2">
      [link](javascript:alert(1)) <script>document.title=3</script> <b title="a > b, on = off" ONCLICK = 'document.title=4'>bold</b>
      and \`<i onclick=say>\`

<div title="it's"onclick='document.title=5' onfocus>more</div>`
    const server = await listen({ helmet: true, openapi: true }, (one) =>
      one.get('/described', { apidoc: { description } }, () => ''),
    )
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    const title = await page.title()
    const block = page.locator('.opblock-get')
    await block.locator('.opblock-summary-control').click()
    const shown = block.locator('.opblock-description')
    expect(await shown.locator('b').getAttribute('title')).toBe('a > b, on = off')
    expect(await shown.getByTitle("it's").innerText()).toBe('more')
    expect(await shown.locator('code').innerText()).toBe('<i onclick=say>')
    for (const one of ['b', 'img', '[title]']) await shown.locator(one).last().dispatchEvent('click')
    expect(await page.title()).toBe(title)
    expect(await page.locator('a[href^="javascript"], #page script').count()).toBe(0)
    const handlers = await page.evaluate(() =>
      [...document.querySelectorAll('#page *')].flatMap((one) =>
        one.getAttributeNames().filter((name) => /^on/.test(name)),
      ),
    )
    expect([handlers, wrong]).toEqual([[], []])
    await page.close()
  })

  test('headers of answers can be read in dark colours', async () => {
    const server = await listen({ rateLimit: true, openapi: true })
    open.push(server)
    const { page } = await visit(`${server.url}/docs`, 'dark')
    await page.locator('.opblock-post .opblock-summary-control').click()
    const color = page.locator('table.headers td').first()
    expect(await color.evaluate((cell) => getComputedStyle(cell).color)).toBe('rgb(228, 230, 230)')
    await page.close()
  })

  test('one credential is enough for all routes that need one', async () => {
    const policies = new PolicyManager({ books: { sell: () => true, lend: () => true } })
    const asked: unknown[] = []
    const server = await listen({ openapi: true, helmet: true }, (one) => {
      for (const handler of ['sell', 'lend'] as const) {
        one.get(`/${handler}`, { policy: { manager: policies, scope: 'books', handler } }, ({ headers }) => {
          asked.push(headers.authorization)
          return handler
        })
      }
    })
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    await page.locator('.auth-wrapper .authorize').first().click()
    expect(await page.locator('.auth-container').count()).toBe(1)
    await page.locator('.auth-container input').fill('a-token')
    await page.locator('.auth-btn-wrapper .authorize').click()
    await page.locator('.auth-btn-wrapper .btn-done').click()
    for (const path of ['sell', 'lend']) {
      const route = page.locator('.opblock-get', { hasText: `/${path}` })
      await route.locator('.opblock-summary-control').click()
      await route.getByRole('button', { name: 'Try it out' }).click()
      await route.getByRole('button', { name: 'Execute' }).click()
      await route.locator('.live-responses-table .response-col_description code').first().waitFor()
    }
    expect([asked, wrong]).toEqual([['Bearer a-token', 'Bearer a-token'], []])
    await page.close()
  })

  test('after a prefix that a proxy removes it finds its files, and requests go there too', async () => {
    const server = await listen({ openapi: true, proxy: proxy() })
    open.push(server)
    for (const path of ['/shop/docs', '/shop/docs/']) {
      const { page, wrong } = await visit(`${server.url}${path}`)
      expect(new URL(page.url()).pathname).toBe('/shop/docs')
      expect(JSON.parse(await tryIt(page))).toEqual({ id: '7', title: 'Emma' })
      expect(await page.locator('.request-url').innerText()).toContain('/shop/books/7')
      expect(wrong).toEqual([])
      await page.close()
    }
  })

  test('in a scope with a prefix of its own, requests go where the routes are', async () => {
    const server = await listen({}, (one) => one.register(openapi({ path: '/api docs' }), { prefix: '/admin' }))
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/admin/api%20docs`)
    expect(JSON.parse(await tryIt(page))).toEqual({ id: '7', title: 'Emma' })
    expect(wrong).toEqual([])
    await page.close()
  })

  test('an unavailable document is reported', async () => {
    const server = await listen({ openapi: true })
    open.push(server)
    const page = await browser.newPage()
    await page.route('**/docs/json', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto(`${server.url}/docs`)
    expect(await page.getByRole('alert').innerText()).toContain('The description cannot be loaded: 503')
    await page.close()
  })
})

/** What a proxy does that serves the application below `/shop`. */
const proxy = definePlugin({
  name: 'proxy',
  setup(ctx) {
    ctx.rewrite((raw) => (raw.target.startsWith('/shop/') ? { target: raw.target.slice('/shop'.length) } : undefined))
  },
})
