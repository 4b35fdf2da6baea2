import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { MustacheAdapter, memoryQueue, memoryTransport, QueueService, RouteCollection, Server } from 'framework'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { faults } from '../../support/axe.ts'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { visit } from './support.ts'

const nasty = `<img src=x onerror="alert(1)"><script>alert(2)</script>`

describe.skipIf(!hasChromium)('in a browser', () => {
  let browser: Browser
  let server: Server<{}>
  let stop = async () => {}
  let count = 0
  beforeAll(async () => {
    browser = await startChromium()
    const orders = memoryQueue<{ book: number }>('page-orders')
    const providers = {
      main: { transporter: memoryTransport(), templateAdapter: new MustacheAdapter(), from: 'Shop <shop@example.org>' },
    }
    server = new Server({
      router: new RouteCollection(),
      logger: memoryLogger(),
      port: 0,
      host: '127.0.0.1',
      plugins: {
        inspector: true,
        helmet: true,
        csrf: true,
        queues: { run: true },
        cache: true,
        metrics: true,
        health: { ready: false },
        mailer: { providers, defaultProvider: 'main' },
      },
    }) as unknown as Server<{}>
    const handle = await orders.subscribe(async ({ book }, { attempt }) => {
      if (attempt === 1) throw new Error('the printer is out of paper')
      await server.services
        .get('mailer')
        .send((mail) =>
          mail
            .to('ada@example.org')
            .subject('Your book is printed')
            .html(`<h1>Book ${book}</h1><p>It is on its way.</p><img src="http://foreign.example/x.png">${nasty}`)
            .text('Book 1 is on its way.'),
        )
    })
    server.post('/orders', async function placeOrder(req) {
      req.log.info({ book: 1 }, 'an order was placed')
      return orders.publish({ book: 1 }, { attempts: 2, backoff: { type: 'fixed', delay: 1 } })
    })
    server.post('/repeat', () => orders.publish({ book: 1 }, { attempts: 2 }))
    server.post('/read', async (req) => String((await req.raw.bytes(100)).byteLength))
    server.post('/prices', async () => {
      await fetch(`http://127.0.0.1:${server.port}/books/1?token=hidden-value`)
      await fetch(`http://127.0.0.1:${server.port}/nowhere`)
      return 'asked'
    })
    server.post('/fails', function fails(req) {
      count++
      throw new Error(`no stock of ${(req.body as { title: string }).title}, asked ${count} times`)
    })
    server.get('/books/:id', { cache: { ttl: 60 } }, (req) => ({ id: req.params.id, title: nasty }))
    server.delete('/books/:id', (_req, res) => res.noContent())
    await server.listen()
    stop = async () => {
      await handle.unsubscribe()
      await QueueService.stop()
      await server.close()
    }
    const url = (path: string) => `http://127.0.0.1:${server.port}${path}`
    const post = (path: string, body: object) =>
      fetch(url(path), {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: 'Bearer hidden-value' },
      })
    await post('/orders', { book: 1, password: 'hidden-value' })
    await post('/fails', { title: nasty })
    await post('/prices', {})
    for (let i = 0; i < 2; i++) await fetch(url(`/books/${encodeURIComponent(nasty)}`))
    await fetch(url('/nowhere'))
  })
  afterAll(async () => {
    await browser?.close()
    await stop()
  })

  async function open(options: object): Promise<{ page: Page; wrong: string[]; see(place: string): Promise<string> }> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const origin = `http://127.0.0.1:${server.port}`
    const wrong = await watch(page, origin)
    await page.goto(origin + (await visit(server)))
    await page.waitForSelector('#live.on')
    return {
      page,
      wrong,
      async see(place) {
        const before = await page.evaluate(() => (document.title = 'waiting'))
        await page.goto(`${origin}/_inspector#/${place}`)
        await page.waitForFunction((title) => document.title !== title, before)
        return page.locator('main').innerText()
      },
    }
  }
  const shots = process.env.INSPECTOR_SHOTS
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  const firstOf = async (page: Page, text: string) =>
    (await page.locator('main .rows a', { hasText: text }).first().getAttribute('href'))!.slice(2)

  /** Open from the first test to the last one: a chart needs two samples, of every five seconds. */
  let charts: Awaited<ReturnType<typeof open>>
  const look = async (page: Page, name: string) => {
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = true
    })
    const also = async (look: string) => {
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(background).toBe(look.startsWith('dark') ? 'rgb(13, 17, 23)' : 'rgb(247, 248, 250)')
      if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}-${look}.png`, fullPage: true })
    }
    // One list and one entry at each width: the others have the same layout.
    const isOfAllWidths = ['requests', 'request'].includes(name)
    expect([name, await faults(page, { widths: [1280, 800, 390], isOfAllWidths, also })]).toEqual([name, []])
  }

  test('every view holds on a desktop, a tablet and a phone, light and dark', async () => {
    const { page, wrong, see } = await open({})
    charts = await open({})
    await charts.page.getByRole('link', { name: 'Metrics' }).click()
    const shot = (name: string) => look(page, name)
    expect(await see('request')).toContain('POST /orders')
    await shot('requests')
    const [order, failure] = [await firstOf(page, '/orders'), await firstOf(page, '/fails')]
    const ordered = await see(order)
    for (const part of [
      'Published: page-orders',
      'Job: page-orders (attempt 2 of 2)',
      'Email: Your book',
      'an order was placed',
    ])
      expect(ordered).toContain(part)
    expect(ordered).toContain('"password": "[redacted]"')
    expect(ordered).not.toContain('hidden-value')
    await shot('request')
    expect(await see(failure)).toContain('no stock of <img src=x')
    await shot('failure')
    await see('request')
    const calls = await see(await firstOf(page, 'POST /prices'))
    for (const part of ['Outgoing request: GET 127.0.0.1', '/books/1?token=[redacted] (200)'])
      expect(calls).toContain(part)
    await shot('outgoing')
    expect(await see('exceptions')).toMatch(/Error at test\/plugins\/inspector\/page\.test\.ts:\d+:\d+\n+no stock/)
    await shot('exceptions')
    await see('mail')
    await see(await firstOf(page, 'Your book'))
    const mail = page.frameLocator('iframe')
    expect(await mail.locator('h1').innerText()).toBe('Book 1')
    await shot('mail')
    expect(await see('routes')).toContain('placeOrder')
    await shot('routes')
    expect(await see('plugins')).toMatch(/provides queues/)
    await shot('plugins')
    // The map is about the last minute, and the views before it may have taken longer.
    await fetch(`http://127.0.0.1:${server.port}/repeat`, { method: 'POST' })
    const map = await see('map')
    for (const part of [/POST \/repeat \d+×/, /publish page-orders \d+×/, /process page-orders/, /health ok/])
      expect(map).toMatch(part)
    await shot('map')
    expect(await see('processes')).toMatch(new RegExp(`${process.pid}\\s+server\\s+ready`))
    await shot('processes')
    await page.getByRole('link', { name: 'Dead letters' }).click()
    await page.waitForSelector('h2:has-text("Dead letters")')
    await shot('panel')
    expect(await see('log')).toContain('an order was placed')
    expect(await see('cache')).toContain('HIT')
    // What the policy of the email has kept from being loaded is what is expected of it.
    expect(wrong.filter((one) => !/foreign\.example|\/x: csp$/.test(one))).toEqual([])
    await page.context().close()
  })

  test('the first visit marks its entry, a method is one line, and one of something is not several', async () => {
    const { page, see } = await open({ viewport: { width: 1440, height: 900 } })
    const marked = () => page.locator('nav [aria-current]').allInnerTexts()
    await page.waitForSelector('main .rows a')
    expect(await marked()).toEqual([expect.stringMatching(/^Requests/)])
    await see('routes')
    expect(await marked()).toEqual(['Routes'])
    const lines = await page.locator('td:first-child span').evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return [cell.textContent, range.getClientRects().length]
      }),
    )
    expect(lines).toContainEqual(['DELETE', 1])
    expect(lines.filter(([, count]) => count !== 1)).toEqual([])
    const plugins = await see('plugins')
    expect(plugins).toMatch(/health[^\n]* 1 route$/m)
    expect(plugins).not.toMatch(/\b1 routes/)
    await page.context().close()
  })

  test('the map of work of which each causes all others is drawn, and names are text', async () => {
    const { page, wrong, see } = await open({ viewport: { width: 1280, height: 800 } })
    const nodes = Array.from({ length: 14 }, (_, i) => ({
      name: `${nasty} ${i}`,
      kind: 'work',
      count: 1,
      failed: 0,
      ms: 1,
    }))
    const edges = nodes.flatMap((from) => nodes.map((to) => ({ ...from, from: from.name, to: to.name })))
    await page.route('**/api/map', (route) => route.fulfill({ json: { nodes, edges } }))
    expect(await see('map')).toContain(`${nasty} 13`)
    expect(await page.locator('main :is(img, script)').count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('new requests come by themselves, and the replay of a failure fails again beside the first one', async () => {
    const { page, wrong, see } = await open({ viewport: { width: 1280, height: 800 } })
    await see('request')
    await fetch(`http://127.0.0.1:${server.port}/fresh`)
    await page.waitForSelector('main .rows a:has-text("GET /fresh")')
    await see(await firstOf(page, '/fails'))
    const before = count
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.waitForSelector('h3:has-text("Responses")')
    expect(count).toBe(before + 1)
    const text = await page.locator('main').innerText()
    expect(text).toContain(`asked ${count} times`)
    expect(text).toMatch(/Before, at .*\n[\s\S]*500[\s\S]*Now, at .*\n[\s\S]*500/)
    expect(await overflow(page)).toBe(false)
    if (shots !== undefined) await page.screenshot({ path: `${shots}/replay.png`, fullPage: true })
    await page.getByRole('link', { name: 'Mailer' }).click()
    await page.getByRole('button', { name: 'Verify mailer' }).click()
    await page.waitForFunction(() => document.getElementById('notice')?.textContent?.includes('can be reached'))
    expect(await overflow(page)).toBe(false)
    if (shots !== undefined) await page.screenshot({ path: `${shots}/panel.png` })
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
    expect(wrong).toEqual([])
  })

  test('a list is filtered by the keyboard, and the address keeps that', async () => {
    const { page, wrong, see } = await open({ viewport: { width: 1280, height: 800 } })
    await see('request')
    const titles = () => page.locator('main .rows .title').allInnerTexts()
    const all = (await titles()).length
    await page.getByLabel('Status').focus()
    await page.keyboard.type('5')
    await vi.waitUntil(async () => (await titles()).length < all, 20_000)
    expect(new Set(await titles())).toEqual(new Set(['POST /fails']))
    expect(page.url()).toMatch(/#\/request\?status=5xx$/)
    await page.reload()
    await page.waitForSelector('main .rows a')
    expect(new Set(await titles())).toEqual(new Set(['POST /fails']))
    // A new request that does not match stays out, and one that does comes.
    const before = (await titles()).length
    await fetch(`http://127.0.0.1:${server.port}/fresh`)
    await fetch(`http://127.0.0.1:${server.port}/fails`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    await vi.waitUntil(async () => (await titles()).length === before + 1, 20_000)
    await page.locator('main .rows a').first().click()
    await page.waitForSelector('h3:has-text("Failure")')
    await page.locator('main').getByRole('link', { name: 'Requests', exact: true }).click()
    await page.waitForSelector('main .rows a')
    expect(page.url()).toMatch(/\?status=5xx$/)
    for (const [query, shown] of [
      ['method=POST&route=%2Forders', ['POST /orders']],
      ['outcome=failed&text=nothing', []],
      ['slow=1000000', []],
      ['text=books%2F1', ['GET /books/1?token=[redacted]']],
    ] as const) {
      await see(`request?${query}`)
      expect(new Set(await titles()), query).toEqual(new Set(shown))
    }
    expect(await page.locator('main').innerText()).not.toContain('No entry')
    expect(await see('request?slow=1000000')).toContain('No entry has all of these.')
    expect(await see('log?level=info')).toContain('an order was placed')
    expect(await see('routes?text=orders')).not.toContain('/books')
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('a request is changed and sent, and copied for a shell without its secrets', async () => {
    const { page, wrong, see } = await open({
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const nasty = { title: "a'b\u0003$(x)" }
    await fetch(`http://127.0.0.1:${server.port}/fails?token=hidden-value&q=[1-3]`, {
      method: 'POST',
      body: JSON.stringify({ ...nasty, password: 'hidden-value' }),
      headers: { 'content-type': 'application/json', authorization: 'Bearer hidden-value' },
    })
    await see('request')
    await see(await firstOf(page, 'q=[1-3]'))
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.waitForFunction(() => document.getElementById('notice')?.textContent !== '')
    expect(await page.locator('#notice').innerText()).toBe('Copied. Fill in what is [redacted].')
    const command = await page.evaluate(() => navigator.clipboard.readText())
    expect(command).toContain(`'http://127.0.0.1:${server.port}/fails?token=[redacted]&q=[1-3]'`)
    expect(command).not.toMatch(/hidden|[^\P{Cc}\n]/u)
    // What a shell makes of it.
    const words = execFileSync('bash', ['-c', command.replace('curl', 'printf "%s\\0"')], { encoding: 'utf8' }).split(
      '\0',
    )
    expect(words.slice(0, 5)).toEqual([
      '-g',
      '--path-as-is',
      '-X',
      'POST',
      `http://127.0.0.1:${server.port}/fails?token=[redacted]&q=[1-3]`,
    ])
    expect(words).toContain('authorization: [redacted]')
    expect(JSON.parse(words[words.indexOf('--data-raw') + 1]!)).toEqual({ ...nasty, password: '[redacted]' })

    await page.locator('summary', { hasText: 'Edit and send' }).click()
    const text = await page.getByLabel('Body').inputValue()
    await page.getByLabel('Body').fill(text.replace('"title": "a', '"title": "changed'))
    await page.getByLabel('Path').fill('/fails?token=[redacted]&q=new')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.waitForSelector('h2:has-text("q=new")')
    expect(await page.locator('main').innerText()).toContain('no stock of changed')
    await page.locator('summary', { hasText: 'Edit and send' }).click()
    await page.getByLabel('Path').fill('/fails?note=[redacted]')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.waitForFunction(() =>
      document.getElementById('notice')?.textContent?.includes('has changed and contains'),
    )
    // The refusal is a response of 400.
    expect(wrong.filter((one) => !one.startsWith('400 '))).toEqual([])
    await page.context().close()
  })

  test('what is copied has its own type alone, and says when it has not the whole body', async () => {
    const { page, see } = await open({
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const copied = async (path: string, body: string | Buffer, headers: Record<string, string>) => {
      await server.inject({ method: 'POST', url: path, body, headers })
      await see('request')
      await see(await firstOf(page, path))
      await page.evaluate(() => document.getElementById('notice')!.replaceChildren())
      await page.getByRole('button', { name: 'Copy as curl' }).click()
      await page.waitForFunction(() => document.getElementById('notice')?.textContent !== '')
      return [await page.locator('#notice').innerText(), await page.evaluate(() => navigator.clipboard.readText())]
    }
    const zipped = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    const [, text] = await copied('/read?copied=1', gzipSync('hello'), zipped)
    expect(text).toContain(`--data-raw 'hello'`)
    expect(text).not.toContain('content-encoding')
    const [whole, untyped] = await copied('/read?copied=2', 'a', {})
    expect(whole).toBe('Copied.')
    expect(untyped).toContain(`-H 'content-type:'`)
    const [part] = await copied('/read?copied=3', Buffer.from([0, 1]), { 'content-type': 'image/png' })
    expect(part).toBe('Copied without the whole body (image/png).')
    await page.context().close()
  })

  test('an email asks no one for anything and leads nowhere, and nothing that is shown is run', async () => {
    const asked: string[] = []
    const tracker = createServer((req, res) => {
      asked.push(req.url!)
      res.end('x')
    })
    await new Promise<void>((resolve) => tracker.listen(0, '127.0.0.1', resolve))
    const away = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`
    const run = `parent.document.title='run';document.title='run';fetch('${away}/run')`
    const html = `<base href="${away}/base/"><meta http-equiv="refresh" content="0;url=${away}/refresh">
      <link rel="stylesheet" href="${away}/css"><link rel="preconnect" href="${away}"><link rel="prefetch" href="${away}/prefetch">
      <style>@import '${away}/import'; body { background: url(${away}/background) } @font-face { font-family: f; src: url(${away}/font) } p { font-family: f }</style>
      <script>${run}</script><script src="${away}/script"></script><img src="${away}/img" srcset="${away}/set 2x" onerror="${run}">
      <svg onload="${run}"><image href="${away}/svg"></svg><iframe src="${away}/frame"></iframe><iframe srcdoc="<script>${run}</script>"></iframe>
      <object data="${away}/object"></object><embed src="${away}/embed"><video src="${away}/video" poster="${away}/poster"></video>
      <form action="${away}/form" id="form"><input name="a" value="b" autofocus onfocus="${run}"><button>send</button></form>
      <h1>Hostile</h1><p>text</p><a id="here" href="${away}/here">a</a><a id="blank" target="_blank" href="${away}/blank">b</a>
      <a id="top" target="_top" href="${away}/top">c</a><a id="js" href="javascript:${run}">d</a>`
    await server.services.get('mailer').send((mail) => mail.to('ada@example.org').subject(nasty).html(html).text(nasty))
    server.logger.error({ [nasty]: nasty }, nasty)
    await fetch(`http://127.0.0.1:${server.port}/nowhere?${encodeURIComponent(nasty)}=${encodeURIComponent(nasty)}`, {
      headers: { 'x-nasty': nasty },
    })
    const { page, wrong, see } = await open({ viewport: { width: 1280, height: 800 } })
    await see('mail')
    await see(await firstOf(page, '<img src=x'))
    const mail = page.frameLocator('iframe')
    expect(await mail.locator('h1').innerText()).toBe('Hostile')
    for (const id of ['here', 'blank', 'top', 'js']) {
      await mail
        .locator(`#${id}`)
        .click({ timeout: 2_000 })
        .catch(() => {})
      await see('mail')
      await see(await firstOf(page, '<img src=x'))
    }
    await mail
      .locator('button')
      .click({ timeout: 2_000 })
      .catch(() => {})
    for (const view of ['request', 'log', 'plugins', 'routes']) await see(view)
    await see('request')
    await see(await firstOf(page, '/nowhere?'))
    expect(await page.locator('dd', { hasText: nasty }).count()).toBe(1)
    await see('log')
    expect(await see(await firstOf(page, '<img src=x'))).toContain(nasty)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(page.context().pages()).toHaveLength(1)
    expect(wrong.filter((one) => /dialog|run/.test(one))).toEqual([])
    expect(asked).toEqual([])
    await page.context().close()
    tracker.close()
  })

  test('figures have charts', async () => {
    const { page, wrong } = charts
    await page.waitForSelector('svg.chart', { timeout: 20_000 })
    expect(await page.locator('main').innerText()).toMatch(/process_resident_memory_bytes\s+[\d.]+ MB/)
    await look(page, 'metrics')
    expect(wrong).toEqual([])
    await page.context().close()
  })
})
