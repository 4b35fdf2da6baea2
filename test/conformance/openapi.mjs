import { createHash } from 'node:crypto'
import { RouteCollection, Server } from 'framework'
import { z } from 'zod'

/**
 * The description on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [adapter]
 */
export async function run(adapter) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }

  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    plugins: { openapi: { info: { title: 'Bücher' } }, urlencoded: true, rateLimit: true },
  })
  const Book = z.object({ title: z.string(), at: z.date().optional(), pages: z.int().default(1) }).meta({ id: 'Book' })
  const Tree = { $id: 'Tree', type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } }
  server.post('/books/:id?', { body: Book, responses: { 201: Book }, apidoc: { summary: 'no' } }, quiet)
  server.get(
    '/trees/*',
    { query: { type: 'object', properties: { ü: { type: 'string' } } }, responses: { 200: Tree } },
    quiet,
  )
  const { port } = await server.listen()

  /** @param {string} path @param {RequestInit} [init] */
  async function ask(path, init) {
    const res = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init })
    const bytes = new Uint8Array(await res.arrayBuffer())
    const { headers } = res
    return {
      status: res.status,
      type: headers.get('content-type'),
      etag: headers.get('etag'),
      cache: headers.get('cache-control'),
      location: headers.get('location'),
      hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
      size: bytes.length,
    }
  }

  const json = await ask('/docs/json')
  const known = await ask('/docs/json', { headers: { 'if-none-match': String(json.etag) } })
  const page = await (await fetch(`http://127.0.0.1:${port}/docs`)).text()
  const files = [...page.matchAll(/(?:src|href)="(docs\/ui\/[^"]+)"/g)].map(([, file]) => `/${file}`)
  const seen = {
    json,
    known: [known.status, known.size],
    yaml: await ask('/docs/yaml'),
    page: await ask('/docs'),
    slashed: await ask('/docs/'),
    head: await ask('/docs/yaml', { method: 'HEAD' }),
    files: await Promise.all(files.map((file) => ask(file))),
    missing: (await ask('/docs/ui/package.json')).status,
  }
  await server.close()
  return seen
}
