import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasChromium, startChromium, watch } from '../../../test/support/chromium.ts'
import { makeServer } from './server.ts'

describe.skipIf(!hasChromium)('the page in a real browser', () => {
  let server: ReturnType<typeof makeServer>
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    vi.stubEnv('PORT', '0')
    vi.stubEnv('HOST', '127.0.0.1')
    server = makeServer({ log: false })
    await server.listen()
    browser = await startChromium('--host-resolver-rules=MAP library.test 127.0.0.1')
    page = await browser.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await browser?.close()
    await server.close()
  })

  test('it shows the books, under the content security policy of helmet', async () => {
    await page.goto(`${server.url}/app/`)
    await page.waitForSelector('#books li')
    expect(await page.locator('#books .cover strong').allTextContents()).toContain('The Dispossessed')
    expect(await page.locator('nav a').allTextContents()).toEqual(['API docs', 'GraphiQL', 'Jobs', 'Health'])
    expect(complaints).toEqual([])
  })

  test('the reading list lasts over a reload, by the session', async () => {
    expect(await page.locator('#empty').isVisible()).toBe(true)
    const button = page.locator('#books button').first()
    await button.click()
    await page.waitForSelector('#list li')
    expect([await button.textContent(), await button.getAttribute('aria-pressed')]).toEqual(['On my list', 'true'])
    await page.reload()
    await page.waitForSelector('#list li')
    expect(await page.locator('#list li').count()).toBe(1)
    expect(await page.locator('#empty').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Remove The Dispossessed' }).click()
    await page.waitForSelector('#empty:visible')
    expect(await button.textContent()).toBe('Add to my list')
    const cookie = (await page.context().cookies()).find(({ name }) => name === 'sid')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', secure: false })
    expect(complaints).toEqual([])
  })

  test('what happens in the library appears at once, and what is refused is said', async () => {
    const headers = { authorization: 'Bearer ada' }
    await server.inject.post('/books', { body: { title: '<b>Kindred</b>', author: 'Octavia E. Butler' }, headers })
    await page.waitForSelector('#events li')
    expect(await page.locator('#events li span').innerText()).toBe('“<b>Kindred</b>” was added')
    const cover = page.locator('#books .cover', { hasText: '<b>Kindred</b>' })
    await cover.waitFor()
    await page.route('**/list/*', (route) => route.fulfill({ status: 409, json: { message: 'not today' } }))
    await page.locator('#books button').first().click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').innerText()).toBe('not today')
    await page.unroute('**/list/*')
    complaints.length = 0
  })

  test('who else is here and what is lent appears at once', async () => {
    await page.waitForSelector('#readers:visible')
    expect(await page.locator('#readers').innerText()).toBe('You are the only reader here.')
    const other = await browser.newPage()
    await other.goto(`${server.url}/app/`)
    await expect.poll(() => page.locator('#readers').innerText()).toBe('2 readers are here.')
    const headers = { authorization: 'Bearer ada' }
    const loan = await server.inject.post('/loans', { body: { book: '1' }, headers })
    await Promise.all(
      [page, other].map((one) => one.locator('#books .is-lent', { hasText: 'The Dispossessed' }).waitFor()),
    )
    await other.close()
    await server.inject.delete(`/loans/${loan.body<{ id: string }>().id}`, { headers })
    await expect.poll(() => page.locator('#books .is-lent').count()).toBe(0)
    await expect.poll(() => page.locator('#readers').innerText()).toBe('You are the only reader here.')
    expect(complaints).toEqual([])
  })

  test('over http from another machine every page has all of its files; none is wider than a phone', async () => {
    // A browser trusts localhost as it trusts https, but not a name like this one.
    const origin = `http://library.test:${server.port}`
    const context = await browser.newContext({
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
      httpCredentials: { username: 'ada', password: 'ada' },
    })
    for (const [path, shown] of [
      ['/', '.places li'],
      ['/app/', '#books li'],
      ['/queues', 'main'],
      ['/docs', '.operation'],
      ['/graphql', '.graphiql-response'],
      ['/crons', 'article'],
    ] as const) {
      const other = await context.newPage()
      const wrong = await watch(other, origin)
      await other.goto(origin + path)
      await other.waitForSelector(shown)
      const overflow = await other.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      // A page that asks for a name and a password first answers with this.
      expect([path, overflow, wrong.filter((one) => !/^401 .*\/(crons|queues)$/.test(one))]).toEqual([path, 0, []])
      await other.close()
    }
    await context.close()
  })
})
