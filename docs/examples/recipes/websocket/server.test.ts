import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, startChromium, watch } from '../../../../test/support/chromium.ts'
import { makeServer } from './server.ts'

const server = makeServer({ port: 0, host: '127.0.0.1' })
beforeAll(() => server.listen())
afterAll(() => server.close())

test('what one says, all receive; what does not match is refused', async () => {
  const [ada, bob] = [await server.inject.ws('/chat'), await server.inject.ws('/chat')]
  ada.send({ type: 'say', data: { name: 'ada', text: 'hello' } })
  for (const one of [ada, bob]) await one.assertNext({ type: 'said', data: { name: 'ada', text: 'hello' } })
  ada.send({ type: 'say', data: { name: 'ada', text: '' } })
  await ada.assertNext({ type: 'error' })
  await Promise.all([ada.close(), bob.close()])
})

describe.skipIf(!hasChromium)('in a browser', () => {
  test('the page shows what others say, and markup as text', async () => {
    const browser = await startChromium()
    try {
      const page = await browser.newPage()
      const wrong = await watch(page, server.url)
      await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
      await page.goto(`${server.url}/`)
      await page.getByRole('textbox').fill('<b>hi</b>')
      await expect
        .poll(async () => {
          await page.getByRole('button').click()
          return page.locator('li').first().innerText({ timeout: 500 })
        })
        .toBe('guest: <b>hi</b>')
      expect(wrong).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
