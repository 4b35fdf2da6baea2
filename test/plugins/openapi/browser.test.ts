import { definePlugin, PolicyManager, type Request, RouteCollection, Server } from 'framework'
import { openapi } from 'framework/plugins'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { faults } from '../../support/axe.ts'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'
import { isLong } from '../../support/long.ts'

const Book = { $id: 'Book', type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const

const Tree = { $id: 'Tree', type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } } as const

/** A server with the page and one route that returns its request. */
async function listen(plugins: object, register: (server: Server) => unknown = () => {}): Promise<Server> {
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    router: new RouteCollection(),
    gracefulShutdown: false,
    plugins: { csrf: true, ...plugins, log: false } as {},
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
  async function visit(url: string, context: BrowserContextOptions = {}): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage(context)
    const wrong = await watch(page, new URL(url).origin)
    await page.goto(url)
    await page.waitForSelector('.operation')
    return { page, wrong }
  }

  /** Opens an operation by its method and path. */
  async function openOperation(page: Page, method: string, path: string): Promise<Locator> {
    const operation = page.locator('.operation', {
      has: page.locator('summary', { hasText: new RegExp(`^${method}\\s+${path}`) }),
    })
    await operation.locator('summary').first().click()
    return operation
  }

  /** The field for a value, by the name of the value. */
  const fieldOf = (operation: Locator, name: string) =>
    operation.locator(`.field:has(code:text-is("${name}")) :is(input, select)`)

  /** Sends the request of an opened operation, and returns the status and the body. */
  async function send(operation: Locator): Promise<[status: string, body: string]> {
    await operation.getByRole('button', { name: 'Send' }).click()
    const result = operation.locator('.result')
    await result.locator('.status').waitFor()
    await operation.getByRole('button', { name: 'Send' }).waitFor()
    return [await result.locator('.status').innerText(), await result.locator('pre').last().innerText()]
  }

  async function tryIt(page: Page): Promise<unknown> {
    const operation = await openOperation(page, 'POST', '/books')
    await fieldOf(operation, 'id').fill('7')
    await operation.getByLabel('Body').fill('{"title":"Emma"}')
    const [status, body] = await send(operation)
    expect(status).toBe('201 Created')
    return JSON.parse(body)
  }

  const [light, dark] = ['rgb(247, 248, 250)', 'rgb(13, 17, 23)']
  const looks = [
    ['light', light, {}],
    ['dark', dark, { helmet: true, compression: true }],
    ['dark', dark, {}],
    ['light', light, { helmet: true }],
  ] as const
  test.each(
    isLong ? looks : looks.slice(0, 2),
  )('in %s colours (%s) under the policy of %j it shows the routes, and they can be tried', async (colorScheme, background, plugins) => {
    const server = await listen({ ...plugins, openapi: { info: { title: 'Books <i>' } } })
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`, { colorScheme })
    expect(await page.title()).toBe('Books <i>')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Books <i>')
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(background)
    expect(await tryIt(page)).toEqual({ id: '7', title: 'Emma' })
    expect(wrong).toEqual([])
    await page.close()
  })

  test('axe finds nothing wrong, light and dark, wide and narrow, and nothing is wider than the screen', async () => {
    const server = await listen(
      { rateLimit: true, upload: true, openapi: { info: { description: '# One\n\n- *two* `three`' } } },
      (one) => {
        const policies = new PolicyManager({ site: { admin: () => true } })
        one.group('/admin', [policies.guard('site', 'admin')], (admin) => {
          admin.get('/stats', { query: { type: 'object', properties: { kind: { enum: ['a', 'b'] } } } }, () => 1)
          admin.delete('/stats', { apidoc: { deprecated: true, summary: 'Removes them' } }, () => 1)
        })
        one.patch('/files/*', { body: Tree }, () => 1)
        one.query('/search', () => 1)
      },
    )
    open.push(server)
    const { page } = await visit(`${server.url}/docs`)
    // The content of each is made when it is opened, and has more of them.
    for (let level = 0; level < 5; level++) {
      await page.evaluate(async () => {
        for (const one of document.querySelectorAll('details')) one.open = true
        await new Promise((resolve) => setTimeout(resolve))
      })
    }
    await fieldOf(page.locator('.operation').first(), 'id').fill('7')
    await send(page.locator('.operation').first())
    expect(await faults(page, { isOfAllWidths: true })).toEqual([])
    await page.close()
  })

  test('Markdown of a description is shown, and markup in it is text', async () => {
    const description = `<img src="x" onerror="document.title=2"> [link](javascript:alert(1)) [good](https://example.org/a) **bold**

- \`<i onclick=say>\`

<script>document.title=3</script>`
    const server = await listen({ helmet: true, openapi: { info: { description } } }, (one) =>
      one.get('/described', { apidoc: { description } }, () => ''),
    )
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    const title = await page.title()
    const operation = await openOperation(page, 'GET', '/described')
    await operation.locator('strong', { hasText: 'bold' }).waitFor()
    expect(await operation.locator('li code').innerText()).toBe('<i onclick=say>')
    expect(await operation.getByRole('link').evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual([
      'https://example.org/a',
    ])
    expect(await operation.innerText()).toContain('<script>document.title=3</script>')
    expect(await page.locator('main img, main script, a[href^="javascript"]').count()).toBe(0)
    expect([await page.title(), wrong]).toEqual([title, []])
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
    await page.getByText('Credentials', { exact: true }).click()
    await page.getByLabel('Token').fill('a-token')
    for (const path of ['sell', 'lend']) {
      const operation = await openOperation(page, 'GET', `/${path}`)
      expect(await operation.getByRole('img', { name: 'needs credentials' }).count()).toBe(1)
      await send(operation)
    }
    expect([asked, wrong]).toEqual([['Bearer a-token', 'Bearer a-token'], []])
    await page.close()
  })

  test('keys, passwords and cookies are sent where the schemes say', async () => {
    const asked: unknown[] = []
    const securitySchemes = {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      hidden: { type: 'apiKey', in: 'query', name: 'token' },
      login: { type: 'http', scheme: 'basic' },
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
    }
    const security = [{ key: [], hidden: [], login: [], session: [] }]
    const server = await listen({ openapi: { components: { securitySchemes }, security } }, (one) =>
      one.get('/open', ({ headers, query }) => {
        asked.push([headers['x-key'], query.token, headers.authorization, headers.cookie])
        return 'seen'
      }),
    )
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    await page.context().addCookies([{ name: 'sid', value: 's1', url: server.url }])
    await page.getByText('Credentials', { exact: true }).click()
    for (const [label, value] of [
      ['X-Key', 'k1'],
      ['token', 'a b'],
      ['User', 'ann'],
      ['Password', 'ü'],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(value)
    expect(await send(await openOperation(page, 'GET', '/open'))).toEqual(['200 OK', '"seen"'])
    expect(asked).toEqual([['k1', 'a b', `Basic ${Buffer.from('ann:ü').toString('base64')}`, 'sid=s1']])
    expect(wrong).toEqual([])
    await page.close()
  })

  test('parameters, forms and files arrive as they were entered', async () => {
    const text = { type: 'string' } as const
    const server = await listen({ openapi: true, upload: true, urlencoded: true }, (one) => {
      const query = {
        type: 'object',
        properties: { tag: { type: 'array', items: text }, q: text, sort: { enum: ['up', 'down'] }, none: text },
      } as const
      one.get('/rest/*', { query, headers: { type: 'object', properties: { 'x-a': text } } }, (req) => ({
        rest: req.params['*'],
        query: { ...req.query },
        header: req.headers['x-a'],
      }))
      const body = { type: 'object', properties: { name: text } } as const
      const echo = (req: Request) => ({
        body: req.body,
        files: Object.values(req.files ?? {}).flat().length,
        type: req.headers['content-type']?.split(';')[0],
      })
      one.post('/form', { body }, echo)
      one.post('/upload', { body, upload: { maxFiles: 2 } }, echo)
    })
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    const rest = await openOperation(page, 'GET', '/rest')
    await fieldOf(rest, 'wildcard').fill('a b/ü')
    await fieldOf(rest, 'tag').fill('x, y&z')
    await fieldOf(rest, 'q').fill('1+1')
    await fieldOf(rest, 'sort').selectOption('down')
    await fieldOf(rest, 'x-a').fill('h')
    expect(JSON.parse((await send(rest))[1])).toEqual({
      rest: 'a b/ü',
      query: { tag: ['x', 'y&z'], q: '1+1', sort: 'down' },
      header: 'h',
    })
    const form = await openOperation(page, 'POST', '/form')
    await form.getByLabel('Content type').selectOption('application/x-www-form-urlencoded')
    const upload = await openOperation(page, 'POST', '/upload')
    for (const [operation, type] of [
      [form, 'application/x-www-form-urlencoded'],
      [upload, 'multipart/form-data'],
    ] as const) {
      await fieldOf(operation, 'name').fill('Ann & Bob')
      const files = operation === upload ? 2 : 0
      const attached = ['a', 'b'].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }))
      if (files > 0) await operation.locator('input[type=file]').setInputFiles(attached)
      expect(JSON.parse((await send(operation))[1])).toEqual({ body: { name: 'Ann & Bob' }, files, type })
    }
    expect(wrong).toEqual([])
    await page.close()
  })

  test('a stream is shown as it arrives, and can be stopped', async () => {
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const server = await listen({ openapi: true }, (one) =>
      one.get('/events', (_req, res) =>
        res.sse(
          (async function* () {
            yield { data: 'first' }
            await left
          })(),
        ),
      ),
    )
    open.push(server)
    const { page } = await visit(`${server.url}/docs`)
    const operation = await openOperation(page, 'GET', '/events')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.locator('pre', { hasText: 'data: first' }).waitFor()
    await operation.getByRole('button', { name: 'Stop' }).click()
    await operation.getByText('Stopped.').waitFor()
    leave()
    await page.close()
  })

  test('the filter hides what does not match, and an address with the id of an operation opens it', async () => {
    const server = await listen({ openapi: true }, (one) => one.get('/authors', () => []))
    open.push(server)
    const { page } = await visit(`${server.url}/docs#getAuthors`)
    expect(await page.locator('.operation[open]').getAttribute('id')).toBe('getAuthors')
    await page.getByLabel('Filter operations').fill('post bo')
    expect(await page.locator('.operation:visible').count()).toBe(1)
    await page.getByLabel('Filter operations').fill('nothing')
    expect(await page.getByText('No operation matches.').isVisible()).toBe(true)
    await page.close()
  })

  test('a schema that contains itself is shown as deep as it is opened', async () => {
    const server = await listen({ openapi: true }, (one) => one.put('/trees', { body: Tree }, () => 1))
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/docs`)
    const operation = await openOperation(page, 'PUT', '/trees')
    await operation.getByText('Schema of the body').click()
    for (let level = 1; level < 4; level++) {
      await operation
        .locator('form .schema details > summary')
        .nth(level - 1)
        .click()
      await operation.locator('form .schema').nth(level).waitFor()
    }
    expect(wrong).toEqual([])
    await page.close()
  })

  test('after a prefix that a proxy removes it finds its files, and requests go there too', async () => {
    const server = await listen({ openapi: true, proxy: proxy() })
    open.push(server)
    for (const path of ['/shop/docs', '/shop/docs/']) {
      const { page, wrong } = await visit(`${server.url}${path}`)
      expect(new URL(page.url()).pathname).toBe('/shop/docs')
      expect(await tryIt(page)).toEqual({ id: '7', title: 'Emma' })
      expect(await page.locator('.result').first().innerText()).toContain('/shop/books/7')
      expect(wrong).toEqual([])
      await page.close()
    }
  })

  test('in a scope with a prefix of its own, requests go where the routes are', async () => {
    const server = await listen({}, (one) => one.register(openapi({ path: '/api docs' }), { prefix: '/admin' }))
    open.push(server)
    const { page, wrong } = await visit(`${server.url}/admin/api%20docs`)
    expect(await tryIt(page)).toEqual({ id: '7', title: 'Emma' })
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
