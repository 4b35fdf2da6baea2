import { bullmqQueue, memoryQueue, type Server } from 'framework'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { faults } from '../../support/axe.ts'
import { hasChromium, startChromium, watch } from '../../support/chromium.ts'
import { freePort } from '../../support/own-server.ts'
import { freshName } from '../../support/queues.ts'
import { failing, nasty, serve } from './ui-support.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
})

interface Pages {
  readonly server: Server
  readonly name: string
  readonly away: string
  readonly id: string
  readonly mend: () => void
  readonly handled: readonly unknown[]
}

/** Queues with every kind of trouble, and none. */
async function prepare(): Promise<Pages> {
  const port = await freePort()
  const config = { bullmq: { connection: `redis://127.0.0.1:${port}`, publishTimeout: 300 } }
  const { server } = await serve(true, { config, plugins: { helmet: true, csrf: true } })
  stop.push(() => server.close())
  const payloads = Array.from({ length: 60 }, (_, i) => ({
    ...{ order: 1000 + i, customer: { name: nasty, email: 'ann@example.org' }, token: 'hidden' },
    lines: Array.from({ length: 5 }, (_, line) => ({ book: `A book with a long title ${line}`, copies: line })),
  }))
  const { queue, name, operator, mend, handled } = await failing(
    server,
    payloads,
    () => new Error(`the printer does not respond: ${'a-long-word'.repeat(12)} ${nasty}`),
  )
  await queue.publish({ order: 1 }, { delay: 3_600_000, id: 'reminder of order 1' })
  const calm = memoryQueue<number>(freshName('newsletters'))
  await calm.for(server).publish(1)
  const paused = memoryQueue<number>(freshName('reports'))
  await server.services.get('queues').of(paused.name).pause()
  const away = bullmqQueue(freshName('invoices')).name
  const [first] = await operator.list()
  return { server, name, away, id: first!.id, mend, handled }
}

describe.skipIf(!hasChromium)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  async function visit(server: Server, script = true) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, javaScriptEnabled: script })
    stop.push(() => context.close())
    const page = await context.newPage()
    const wrong = script ? await watch(page, server.url!) : []
    await page.goto(`${server.url}/queues`)
    return { page, wrong }
  }

  test('a person finds the trouble, looks at a message, sends messages again and empties the queue, without a script', async () => {
    const { server, name, mend, handled } = await prepare()
    const { page } = await visit(server, false)
    mend()
    await page.getByRole('link', { name: `60 failed in ${name}` }).click()
    await page.getByRole('link', { name: 'Next' }).click()
    expect(await page.getByText('51 to 60').isVisible()).toBe(true)
    await page.getByRole('link', { name: 'Previous' }).click()
    await page.locator('tbody th a').first().click()
    expect(await page.locator('pre').first().innerText()).toContain(nasty.replaceAll('"', '\\"'))
    expect(await page.locator('pre').first().innerText()).toContain('[redacted]')
    await page.getByRole('button', { name: 'Send again' }).click()
    expect(await page.getByRole('status').innerText()).toBe('1 message was sent again.')
    await expect.poll(() => handled.length).toBe(1)

    const box = page.getByRole('checkbox', { name: /^Select/ })
    await box.nth(0).check()
    await box.nth(1).check()
    await page.getByRole('button', { name: 'Send selected again' }).click()
    expect(await page.getByRole('status').innerText()).toBe('2 messages were sent again.')

    await page.getByRole('link', { name: 'Select all messages of this page' }).click()
    await page.getByText('Remove selected…').click()
    await page.getByRole('button', { name: 'Remove the selected for good' }).click()
    expect(await page.getByRole('status').innerText()).toBe('50 messages were removed.')
    await page.getByRole('button', { name: 'Send all failed again' }).click()
    expect(await page.getByRole('status').innerText()).toBe('7 messages were sent again.')

    await page.getByText('Empty…').click()
    await page.getByRole('checkbox', { name: 'delayed' }).check()
    await page.getByRole('button', { name: 'Remove all of these for good' }).click()
    expect(await page.getByRole('status').innerText()).toBe('1 message was removed.')
    await page.getByRole('button', { name: 'Pause' }).click()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('paused')
  })

  test('with a keyboard, under its policy and that of helmet, nothing is blocked or missing', async () => {
    const { server, name } = await prepare()
    const { page, wrong } = await visit(server)
    const link = page.getByRole('link', { name, exact: true })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/queue=/)
    await page.getByRole('button', { name: 'Pause' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/done=pause/)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.waitForURL(/done=resume/)
    await page.getByText('Empty…').focus()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('button', { name: 'Remove all of these for good' }).isVisible()).toBe(true)
    await page.getByRole('link', { name: 'Refresh every 10 seconds' }).click()
    expect(await page.getByText('Refreshes every 10 seconds').isVisible()).toBe(true)
    expect(wrong).toEqual([])
  })

  test('axe finds nothing wrong, light and dark, wide and narrow, and only tables scroll sideways', async () => {
    const { server, name, away, id } = await prepare()
    const { page, wrong } = await visit(server)
    const query = (given: Record<string, string>) => `${server.url}/queues?${new URLSearchParams(given)}`
    const pages = {
      all: query({}),
      failed: query({ queue: name, done: 'retry', count: '2' }),
      delayed: query({ queue: name, state: 'delayed' }),
      message: query({ queue: name, id }),
      away: query({ queue: away }),
    }
    for (const [what, address] of Object.entries(pages)) {
      await page.goto(address)
      await page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true
      })
      const also = async (look: string) => {
        const path = `${process.env.SCREENSHOTS}/queues-${what}-${look}.png`
        if (process.env.SCREENSHOTS) await page.screenshot({ path })
      }
      const found = await faults(page, { widths: [1200, 390], isOfAllWidths: what === 'delayed', also })
      expect([what, found]).toEqual([what, []])
    }
    expect(wrong).toEqual([])
  })
})
