import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeServer } from './server.ts'

const folder = import.meta.dirname
afterEach(() => rmSync(join(folder, 'dist'), { recursive: true, force: true }))

test('in development Vite passes the API on; built, the server sends the page', async () => {
  const { build, createServer } = await import('vite')
  const local = { port: 0, host: '127.0.0.1' }
  const server = makeServer(local)
  await server.listen()
  process.env.API = server.url
  const vite = await createServer({ configFile: join(folder, 'vite.config.ts'), server: local, logLevel: 'error' })
  try {
    await vite.listen()
    const { port } = vite.httpServer?.address() as { port: number }
    expect(await (await fetch(`http://127.0.0.1:${port}/api/books`)).json()).toEqual([{ title: 'Kindred' }])
  } finally {
    await vite.close()
    await server.close()
    delete process.env.API
  }

  await build({ configFile: join(folder, 'vite.config.ts'), logLevel: 'error' })
  await using production = makeServer()
  const page = await production.inject.get('/books/7', { headers: { accept: 'text/html' } })
  const [, asset] = /src="(\/assets\/[^"]+\.js)"/.exec(page.assertStatus(200).text())!
  const script = await production.inject.get(asset!)
  script.assertStatus(200).assertHeader('cache-control', 'public, max-age=31536000, immutable')
  ;(await production.inject.get('/api/nowhere', { headers: { accept: '*/*' } })).assertStatus(404)
})
