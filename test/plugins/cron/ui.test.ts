import { BaseCron, cron, cronUi, type Middleware, RouteCollection, Server } from 'framework'
import { cron as cronPlugin, csrf, helmet } from 'framework/plugins'
import { type TestClock, testClock } from 'framework/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'
import { memoryLogger } from '../../support/kernel.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
  vi.unstubAllEnvs()
})

const nasty = `<script>alert(1)</script>"'&<b onmouseover=x>`
const staffOnly: Middleware = function staffOnly(req, res, next) {
  return req.headers.authorization === 'Bearer staff' ? next() : res.unauthorized()
}

let time: TestClock | undefined

function takeClock(): TestClock {
  if (time !== undefined) return time
  const taken = testClock('2026-01-05T10:00:00Z', { patience: 100 })
  time = taken
  stop.push(() => {
    taken.restore()
    time = undefined
  })
  return taken
}

async function listen(options: object, plugins: (server: object) => object = (cronOptions) => ({ cron: cronOptions })) {
  const clock = takeClock()
  const logger = memoryLogger()
  const given = { crons: [], timezone: 'Europe/Rome', ...options }
  // One of the jobs never ends, and closing need not wait long for it.
  const settings = { port: 0, host: '127.0.0.1', drainWindow: 0, closeTimeout: 600, gracefulShutdown: false, logger }
  const server = new Server({ ...settings, router: new RouteCollection(), plugins: plugins(given) as {} })
  stop.push(() => server.close().catch(() => {}))
  await server.listen()
  return { server, clock, log: logger.entries }
}

async function start(pattern: string, name: string, run: () => unknown = () => {}) {
  const job = cron(pattern, { name })
  stop.push(() => job.destroy())
  await job.start(run)
}

describe('the page', () => {
  test('shows the jobs in words, with everything escaped, and is rendered at each request', async () => {
    await start('*/5 9-17 * * mon-fri', nasty, () => Promise.reject(new Error(nasty)))
    await start('@daily', 'daily')
    const { server, clock } = await listen({ ui: true })
    const first = await server.inject.get('/crons')
    first
      .assertStatus(200)
      .assertHeader('content-type', 'text/html; charset=utf-8')
      .assertHeader('cache-control', 'no-store')
    expect(first.text()).toContain('Every 5 minutes, between 09:00 and 17:59, Monday through Friday')
    expect(first.text()).toContain('none yet')
    await clock.advance(5 * 60_000)
    const second = (await server.inject.get('/crons')).text()
    expect(second).toContain('<span class="failed">failed</span>')
    expect(second).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;b onmouseover=x&gt;')
    expect(second).not.toContain('<script')
    expect(second).not.toContain('<b ')
    expect(second).not.toContain('onmouseover=x>')
    expect(second).toContain('Europe/Rome')
    expect(second).not.toContain('<form')
  })

  test('has every time in one zone, and says which; a pattern is read in that of its job', async () => {
    const job = cron('0 8 * * *', { name: 'tokyo', timezone: 'Asia/Tokyo' })
    stop.push(() => job.destroy())
    await job.start(() => {})
    await start('30 9 * * *', 'rome')
    const { server, clock } = await listen({ ui: true })
    await clock.advance(24 * 3_600_000)
    const page = (await server.inject.get('/crons')).text()
    expect(page).toContain('All times are in <strong>Europe/Rome</strong>.')
    expect(page).toContain('<time datetime="2026-01-06T10:00:00.000Z">6 Jan 2026, 11:00:00</time>')
    // At 08:00 in Tokyo it is midnight in Rome.
    expect(page).toContain('<time datetime="2026-01-06T23:00:00.000Z">7 Jan 2026, 00:00:00</time>')
    expect(page).toContain('<time datetime="2026-01-07T08:30:00.000Z">7 Jan 2026, 09:30:00</time>')
    expect(page.match(/in Asia\/Tokyo/g)).toHaveLength(1)
    vi.stubEnv('TZ', 'America/New_York')
    const other = await listen({ ui: true, timezone: undefined })
    expect((await other.server.inject.get('/crons')).text()).toContain('<strong>America/New_York</strong>')
  })

  test('has a policy that forbids all loads, also after helmet', async () => {
    const { server } = await listen({ ui: { path: '/jobs/' } }, (given) => [helmet(), cronPlugin(given)])
    const page = await server.inject.get('/jobs')
    expect(page.headers()['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    page.assertHeader('referrer-policy', 'same-origin').assertHeader('x-frame-options', 'DENY')
    expect(page.text()).toContain('No job is running.')
  })

  test('a method whose name has no form in an address breaks nothing', async () => {
    class Odd extends BaseCron {
      @cron('@daily')
      'half \ud800'(): void {}
    }
    const { server } = await listen({ ui: { middlewares: [staffOnly] }, crons: [Odd] })
    const res = await server.inject.get('/crons', { headers: { authorization: 'Bearer staff' } })
    res.assertStatus(200)
    expect(res.text()).toContain('action="?run=Odd.half%20%EF%BF%BD"')
  })

  test('reloads itself when it is asked to, within reason', async () => {
    const { server } = await listen({ ui: true })
    for (const [query, expected] of [
      ['', undefined],
      ['?refresh=10', '10'],
      ['?refresh=1', undefined],
      ['?refresh=1e9', undefined],
      ['?refresh=%22%3E%3Cscript%3E', undefined],
      ['?refresh=10&refresh=20', undefined],
    ]) {
      const text = (await server.inject.get(`/crons${query}`)).text()
      expect(/http-equiv="refresh" content="(\d+);/.exec(text)?.[1]).toBe(expected)
      expect(text).not.toContain('<script')
    }
  })

  test('in production an unguarded one is a warning at boot', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { log } = await listen({ ui: true })
    expect(log).toMatchObject([
      {
        level: 'warn',
        message: expect.stringContaining(
          'everyone can read the jobs at /crons: its options name no middleware and no policy. Guard the page: cron: { ui: { middlewares: [staffOnly] } }',
        ),
      },
    ])
    const guarded = await listen({ ui: { middlewares: [staffOnly] } })
    expect(guarded.log).toEqual([])
  })

  test('as a plugin of its own, below a prefix; without cron the error names the missing plugin', async () => {
    const { server } = await listen({}, (given) => [cronPlugin(given)])
    expect(server.isReady).toBe(true)
    const other = new Server({
      router: new RouteCollection(),
      logger: memoryLogger(),
      plugins: [cronPlugin({ crons: [] })],
    })
    other.register(cronUi({ path: '/crons' }), { prefix: '/admin' })
    ;(await other.inject.get('/admin/crons')).assertStatus(200)
    await other.close()
    const alone = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: [cronUi()] })
    await expect(alone.ready()).rejects.toMatchObject({ code: 'PluginDependencyMissingError' })
    await alone.close()
  })
})

describe('running a job from the page', () => {
  const staff = { authorization: 'Bearer staff' }
  const sameOrigin = { ...staff, 'sec-fetch-site': 'same-origin' }

  async function guarded() {
    let runs = 0
    await start('0 0 1 1 *', 'a/b?c&d', () => void runs++)
    const { server } = await listen({ ui: { middlewares: [staffOnly] } })
    return { server, count: () => runs, path: `/crons?run=${encodeURIComponent('a/b?c&d')}` }
  }

  test('is for clients that pass the guard, and comes from the page', async () => {
    const { server, count, path } = await guarded()
    ;(await server.inject.get('/crons')).assertStatus(401)
    expect((await server.inject.get('/crons', { headers: staff })).text()).toContain(
      '<form method="post" action="?run=a%2Fb%3Fc%26d">',
    )
    const res = await server.inject.post(path, { headers: sameOrigin })
    res.assertStatus(303).assertHeader('location', '?ran=a%2Fb%3Fc%26d')
    expect(count()).toBe(1)
    const after = (await server.inject.get('/crons?ran=a%2Fb%3Fc%26d', { headers: staff })).text()
    expect(after).toContain('<p role="status">a/b?c&amp;d was started.</p>')
    expect((await server.inject.get('/crons?ran=%3Cb%3E', { headers: staff })).text()).not.toContain('role="status"')
  })

  test.each([
    [401, { 'sec-fetch-site': 'same-origin' }],
    [403, { ...staff, 'sec-fetch-site': 'cross-site' }],
    [403, { ...staff, 'sec-fetch-site': 'same-site' }],
    [403, { ...staff, 'sec-fetch-site': 'none' }],
    [403, { ...staff, 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }],
    [403, { ...staff, origin: 'null' }],
    [403, { ...staff, origin: 'http://evil.test' }],
    [403, { ...staff, origin: 'http://localhost.evil.test' }],
    [403, staff],
  ])('%i for %j', async (status, headers) => {
    const { server, count, path } = await guarded()
    ;(await server.inject.post(path, { headers: headers as Record<string, string> })).assertStatus(status)
    expect(count()).toBe(0)
  })

  test('an origin of its own is enough where the browser says no more', async () => {
    const { server, count, path } = await guarded()
    const headers = { ...staff, origin: server.url }
    const res = await fetch(`${server.url}${path}`, { method: 'POST', headers, redirect: 'manual' })
    expect([res.status, count()]).toEqual([303, 1])
  })

  test('a job that is not there is 404, and GET runs nothing', async () => {
    const { server, count, path } = await guarded()
    ;(await server.inject.post('/crons?run=none', { headers: sameOrigin })).assertStatus(404)
    ;(await server.inject.post('/crons', { headers: sameOrigin })).assertStatus(404)
    ;(await server.inject.get(path, { headers: sameOrigin })).assertStatus(200)
    expect(count()).toBe(0)
  })

  test('without a guard nothing takes a click', async () => {
    await start('0 0 1 1 *', 'yearly')
    const { server } = await listen({ ui: true })
    ;(await server.inject.post('/crons?run=yearly', { headers: sameOrigin })).assertStatus(405)
  })
})

describe.skipIf(!hasChromium)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  async function open(
    colorScheme: 'light' | 'dark',
    width = 1000,
  ): Promise<{ page: Page; complaints: string[]; runs: () => number }> {
    let runs = 0
    await start('*/5 9-17 * * mon-fri', 'mirror the catalogue', () => void runs++)
    await start('0 30 2 * * *', nasty, () => Promise.reject(new Error(`${nasty} ${'long '.repeat(40)}`)))
    await start('* * * * *', 'hanging', () => new Promise(() => {}))
    const { server, clock } = await listen(
      { ui: { middlewares: [(_req: unknown, _res: unknown, next: () => unknown) => next()] } },
      (given) => [helmet(), csrf(), cronPlugin(given)],
    )
    await clock.advance(24 * 3_600_000)
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
    const page = await context.newPage()
    const complaints = await watch(page, server.url)
    await page.goto(`${server.url}/crons`)
    return { page, complaints, runs: () => runs }
  }

  test('it is styled, quiet, readable with a keyboard, and runs a job', async () => {
    const { page, complaints, runs } = await open('light')
    expect(await page.locator('h1').innerText()).toBe('Scheduled jobs')
    expect(await page.locator('article h2').allInnerTexts()).toContain(nasty)
    const before = runs()
    const button = page.getByRole('button', { name: 'Run mirror the catalogue now' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?ran=/)
    expect(await page.getByRole('status').innerText()).toBe('mirror the catalogue was started.')
    expect(runs()).toBe(before + 1)
    await page.getByRole('button', { name: 'Run hanging now' }).click()
    await page.waitForURL(/\?busy=/)
    expect(await page.getByRole('status').innerText()).toContain('hanging was not started')
    await page.locator('summary').first().click()
    expect(await page.getByRole('region').first().isVisible()).toBe(true)
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/light.png`, fullPage: true })
    expect(complaints).toEqual([])
  })

  test('dark and narrow: text has enough contrast, and nothing but tables scrolls sideways', async () => {
    for (const [scheme, width] of [
      ['dark', 360],
      ['light', 360],
    ] as const) {
      const { page, complaints } = await open(scheme, width)
      for (const summary of await page.locator('summary').all()) await summary.click()
      const { contrasts, overflow } = await page.evaluate(() => {
        const luminance = (color: string) => {
          const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
            const c = Number(part) / 255
            return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
          })
          return 0.2126 * r + 0.7152 * g + 0.0722 * b
        }
        const behind = luminance(getComputedStyle(document.body).backgroundColor)
        const elements = [...document.querySelectorAll('h1,h2,a,dt,dd,button,.dim,.ok,.failed,td,summary')]
        const contrasts = elements.map((element) => {
          const front = luminance(getComputedStyle(element).color)
          return (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05)
        })
        return { contrasts, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth }
      })
      expect(Math.min(...contrasts)).toBeGreaterThan(4.5)
      expect(overflow).toBeLessThanOrEqual(0)
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${scheme}-${width}.png`, fullPage: true })
      expect(complaints).toEqual([])
      for (const one of stop.splice(0).reverse()) await one()
    }
  })
})
