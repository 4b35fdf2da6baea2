import { RouteCollection, Server } from 'framework'
import { expect, test } from 'vitest'
import { hasChromium, startChromium } from '../../support/chromium.ts'
import { memoryLogger } from '../../support/kernel.ts'

const secret = '0123456789abcdef0123456789'

function shop(csrf: boolean) {
  const counts = { orders: 0, cookies: 0 }
  const server = new Server({
    plugins: { session: { secret }, urlencoded: true, ...(csrf && { csrf: true }) },
    router: new RouteCollection(),
    logger: memoryLogger(),
    host: '127.0.0.1',
    port: 0,
  })
  server.get('/', (req, res) => {
    Object.assign(req.session, { login: 'ada' })
    return res.html('<title>shop</title>')
  })
  server.post('/orders', (req, res) => {
    counts.orders++
    if ('login' in req.session) counts.cookies++
    return res.html('ordered')
  })
  return { server, counts }
}

function attacker(target: string) {
  const server = new Server({
    plugins: {},
    router: new RouteCollection(),
    logger: memoryLogger(),
    host: '127.0.0.1',
    port: 0,
  })
  server.get('/', (_req, res) => res.html('<title>prizes</title>'))
  server.get('/form', (_req, res) =>
    res.html(`<form method="post" action="${target}/orders" target="_self"><input name="a" value="1"></form>`),
  )
  return server
}

const send = async (url: string) => {
  await fetch(url, {
    method: 'POST',
    mode: 'no-cors',
    credentials: 'include',
    body: new URLSearchParams({ a: '1' }),
  }).catch(() => undefined)
}

test.skipIf(!hasChromium)(
  'none of 40 requests of other pages passes in a browser, and all of the own page do',
  async () => {
    const browser = await startChromium()
    try {
      for (const isProtected of [true, false]) {
        const { server, counts } = shop(isProtected)
        const { port } = await server.listen()
        const own = `http://127.0.0.1:${port}`
        const evil = attacker(own)
        const { port: theirs } = await evil.listen()
        const context = await browser.newContext()
        const page = await context.newPage()
        await page.goto(own)
        for (let i = 0; i < 5; i++) await page.evaluate(send, `${own}/orders`)
        expect(counts).toEqual({ orders: 5, cookies: 5 })
        // Without the protection, some of each kind show what it refuses.
        const [fetches, forms] = isProtected ? [15, 5] : [3, 1]
        // The same site on another port, whose requests carry the cookie, and another site.
        for (const host of ['127.0.0.1', 'localhost']) {
          const other = `http://${host}:${theirs}`
          await page.goto(other)
          for (let i = 0; i < fetches; i++) await page.evaluate(send, `${own}/orders`)
          for (let i = 0; i < forms; i++) {
            await page.goto(`${other}/form`)
            await Promise.all([page.waitForURL(`${own}/orders`), page.evaluate(() => document.forms[0]!.submit())])
          }
        }
        if (isProtected) expect(counts).toEqual({ orders: 5, cookies: 5 })
        else {
          expect(counts.orders).toBe(13)
          expect(counts.cookies).toBeGreaterThanOrEqual(9)
        }
        await context.close()
        await Promise.all([server.close(), evil.close()])
      }
    } finally {
      await browser.close()
    }
  },
)
