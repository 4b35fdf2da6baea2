import { RouteCollection, Server } from 'framework'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setExposure } from '../../../../plugins/shared/failures/formatted-failures.ts'
import { faults } from '../../../support/axe.ts'
import { hasChromium, startChromium } from '../../../support/chromium.ts'
import { memoryLogger } from '../../../support/kernel.ts'
import { visit } from '../../inspector/support.ts'

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

  test('axe finds nothing wrong, light and dark, wide and narrow, and it does not scroll sideways', async () => {
    const page = await browser.newPage({ bypassCSP: true })
    for (const [path, heading] of [
      ['/shows/hamlet?password=1234', 'Error: the seating plan cannot be read'],
      ['/show/hamlet', 'RouteNotFoundError: Cannot GET /show/hamlet'],
      ['/seats?row=1', 'ValidationError: validation failed'],
    ] as const) {
      await page.goto(server.url + path)
      expect(await page.locator('h1').innerText()).toBe(heading)
      for (const summary of await page.locator('summary').all()) await summary.click()
      const also = async (look: string) => {
        if (shots !== undefined) await page.screenshot({ path: `${shots}/${path.length}-${look}.png`, fullPage: true })
      }
      expect([path, await faults(page, { also })]).toEqual([path, []])
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
