import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { makeServer } from './server.ts'

let server: ReturnType<typeof makeServer> | undefined
afterEach(() => server?.close())

async function start(drainWindow: number) {
  process.env.PORT = '0'
  process.env.HOST = '127.0.0.1'
  server = makeServer({ drainWindow, log: false })
  await server.listen()
  return server.url
}

test('what the proxy says of the client counts', async () => {
  const url = await start(0)
  const headers = {
    'x-forwarded-for': '198.51.100.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example.org',
  }
  const res = await fetch(url, { headers })
  expect(await res.json()).toMatchObject({ client: '198.51.100.7', address: 'https://shop.example.org/' })
  expect(res.headers.get('strict-transport-security')).toContain('max-age')
})

test('a closing instance says so, goes on answering, and finishes what it has', async () => {
  const url = await start(10_000)
  // A connection that stays open would keep the window open.
  const get = (path: string) => fetch(url + path, { headers: { connection: 'close' } })
  const ready = () => get('/health/ready')
  expect((await ready()).status).toBe(200)
  const slow = get('/slow')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const closed = server?.close()
  expect((await ready()).status).toBe(503)
  expect((await get('/')).status).toBe(200)
  expect(await (await slow).json()).toBe('whole')
  await closed
})

test.each(['nginx.conf', 'Caddyfile', 'shop.service'])('the guide shows %s as it is', (name) => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
  expect(read('../../guides/deployment.md')).toContain(`\n${read(name)}\`\`\`\n`)
})
