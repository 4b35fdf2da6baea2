import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, startChromium } from '../../../test/support/chromium.ts'
import { root } from '../../../test/support/cli.ts'
import { type Program, startProgram } from '../../../test/support/docs/program.ts'

// The picture in README.md. TAKE_PICTURE=1 npx vitest run docs/examples/demo/picture.test.ts takes it again.
const file = join(root, 'docs/inspector.webp')

describe.skipIf(!hasChromium)('the picture of the inspector', () => {
  let program: Program
  beforeAll(async () => {
    program = await startProgram(['dist/cli/index.js', 'serve'])
  })
  afterAll(() => void program?.child.kill('SIGKILL'))

  test('shows a request down to its job and its email', async () => {
    await expect.poll(program.output).toContain('Ctrl-C stops it.')
    const headers = { 'content-type': 'application/json', authorization: 'Bearer ada' }
    // The first request also pays for code that is loaded and compiled.
    for (const book of ['2', '3', '1']) {
      const lent = await fetch(`${program.url}/loans`, { method: 'POST', headers, body: JSON.stringify({ book }) })
      expect(lent.status).toBe(201)
      await expect.poll(() => program.output().match(/receipt: /g)?.length).toBe({ 2: 1, 3: 2, 1: 3 }[book])
    }
    const browser = await startChromium()
    try {
      const page = await browser.newPage({ viewport: { width: 960, height: 560 } })
      await page.goto(/http:\S+token=\S+/.exec(program.output())![0])
      await page.locator('main .rows a', { hasText: 'POST /loans' }).first().click()
      const rows = page.locator('.fall .name')
      await rows.filter({ hasText: 'Email: Lent: The Dispossessed' }).waitFor()
      const names = await rows.allInnerTexts()
      expect(names).toEqual(
        expect.arrayContaining([
          'POST /loans',
          'handler',
          expect.stringMatching(/^Query: insert into loans/),
          'Published: receipts',
          'Job: receipts (attempt 1 of 3)',
        ]),
      )
      if (process.env.TAKE_PICTURE === '1') {
        await rows.filter({ hasText: 'session' }).evaluate((row) => row.scrollIntoView())
        // Half the size of a PNG, which is all that Playwright itself writes.
        const session = await page.context().newCDPSession(page)
        const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 10 })
        writeFileSync(file, data, 'base64')
      }
    } finally {
      await browser.close()
    }
    // Every project from a clone has it in its repository.
    expect(statSync(file).size).toBeLessThan(50_000)
  })
})
