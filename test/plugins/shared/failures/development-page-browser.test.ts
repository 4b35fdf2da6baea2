import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { RouteCollection, Server } from 'framework'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setExposure } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { hasChromium, startChromium } from '../../../support/chromium.ts'
import { memoryLogger } from '../../../support/kernel.ts'
import { visit } from '../../inspector/support.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const shots = process.env.FAILURE_SHOTS

describe.skipIf(!hasChromium)('the page of a failure, in a browser', () => {
  let browser: Browser
  let server: Server<{}>
  beforeAll(async () => {
    browser = await startChromium()
    server = new Server({
      ...{ router: new RouteCollection(), logger: memoryLogger(), port: 0, host: '127.0.0.1' },
      ...{ exposeErrorDetails: true, plugins: { helmet: true, inspector: true } },
    }) as unknown as Server<{}>
    const Seats = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] } as const
    server.get('/shows/:show', function show() {
      throw new Error('the seating plan cannot be read', {
        cause: new TypeError(`seats is ${'not a list, '.repeat(20)}`),
      })
    })
    server.get('/seats', { query: Seats }, () => 'taken')
    await server.listen()
  })
  afterAll(async () => {
    setExposure(false)
    await browser?.close()
    await server.close()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('axe finds nothing wrong in %s colours, %i pixels wide, and it does not scroll sideways', async (colorScheme, width) => {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true })
    for (const [path, heading] of [
      ['/shows/hamlet?password=1234', 'Error: the seating plan cannot be read'],
      ['/show/hamlet', 'RouteNotFoundError: Cannot GET /show/hamlet'],
      ['/seats?row=1', 'ValidationError: validation failed'],
    ]) {
      await page.goto(server.url + path)
      expect(await page.locator('h1').innerText()).toBe(heading)
      for (const summary of await page.locator('summary').all()) await summary.click()
      if (shots !== undefined)
        await page.screenshot({ path: `${shots}/${path!.length}-${colorScheme}-${width}.png`, fullPage: true })
      await page.evaluate(axe)
      const violations = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: object[] }> } }
        return (await axe.run()).violations
      })
      expect(violations, path).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBe(0)
    }
    await page.close()
  })

  test('links to the request in the inspector, without the token, where the frames of the framework are folded', async () => {
    const page = await browser.newPage()
    await page.goto(server.url + (await visit(server)))
    await page.goto(`${server.url}/shows/hamlet`)
    expect(await page.content()).not.toContain('token')
    await page.getByRole('link', { name: 'Show it in the inspector' }).click()
    const failure = page.locator('h3:text-is("Failure") + .card')
    await failure.waitFor()
    expect(await failure.innerText()).toContain('development-page-browser.test.ts')
    expect(await failure.innerText()).not.toContain('node_modules')
    await failure.locator('summary').first().click()
    expect(await failure.innerText()).toContain('node_modules')
    await page.close()
  })
})
