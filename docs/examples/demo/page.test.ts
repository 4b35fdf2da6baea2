import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasChromium, startChromium } from '../../../test/support/chromium.ts'
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
    browser = await startChromium()
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
    expect(await page.locator('#books li span').allTextContents()).toContain('The Dispossessed Ursula K. Le Guin')
    expect(complaints).toEqual([])
  })

  test('the reading list lasts over a reload, by the session', async () => {
    expect(await page.locator('#empty').isVisible()).toBe(true)
    await page.locator('#books li button').first().click()
    await page.waitForSelector('#list li')
    await page.reload()
    await page.waitForSelector('#list li')
    expect(await page.locator('#list li').count()).toBe(1)
    expect(await page.locator('#empty').isVisible()).toBe(false)
    await page.locator('#list li button').click()
    await page.waitForSelector('#empty:visible')
    const cookie = (await page.context().cookies()).find(({ name }) => name === 'sid')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', secure: false })
    expect(complaints).toEqual([])
  })
})
