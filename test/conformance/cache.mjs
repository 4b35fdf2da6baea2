import process from 'node:process'
import { getCacheService, RouteCollection, Server } from 'framework'

// The cache on whichever runtime runs this. Arguments: the adapter, and where Redis is. Prints what it saw as JSON.
const [, , adapter, redis] = process.argv
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
  plugins: { cache: redis ? { provider: 'redis', redis: { url: redis, prefix: `${process.pid}:` } } : true },
})
let runs = 0
server.get('/slow', { cache: { tags: ['slow'] } }, async (_req, res) => {
  runs++
  await new Promise((resolve) => setTimeout(resolve, 50))
  res.header('x-own', 'ü').created({ ü: runs })
})
server.get('/bytes/:id', { cache: { tags: ['b::id'] } }, (_req, res) =>
  res.type('image/png').bytes(new Uint8Array([0, 255])),
)
const { port } = await server.listen()

/** @param {string} path @param {RequestInit} [init] */
async function ask(path, init) {
  const res = await fetch(`http://127.0.0.1:${port}${path}`, init)
  const body = [...new Uint8Array(await res.arrayBuffer())]
  return {
    status: res.status,
    how: res.headers.get('x-cache'),
    etag: res.headers.get('etag'),
    type: res.headers.get('content-type'),
    body,
  }
}

const storm = await Promise.all(Array.from({ length: 30 }, () => ask('/slow')))
/** @param {string} how */
const count = (how) => storm.filter((one) => one.how === how).length
const hit = await ask('/slow')
const known = await ask('/slow', { headers: { 'if-none-match': String(hit.etag) } })
const head = await ask('/slow', { method: 'HEAD' })
const personal = await ask('/slow', { headers: { authorization: 'me' } })
const bytes = [await ask('/bytes/1'), await ask('/bytes/1')]
const removed = [
  await getCacheService()?.invalidate(['b:1']),
  await getCacheService()?.invalidatePattern('cache:GET:/s*'),
]
const again = [await ask('/slow'), await ask('/bytes/1')]
await server.close()

console.log(
  JSON.stringify({
    storm: { miss: count('MISS'), others: count('WAIT') + count('HIT') },
    hit: [hit.status, hit.how, hit.type, Buffer.from(hit.body).toString(), hit.etag === storm[0]?.etag],
    known: [known.status, known.how, known.body.length],
    head: [head.status, head.how, head.body.length],
    personal: personal.how,
    bytes: bytes.map(({ how, type, body }) => [how, type, body]),
    removed,
    again: again.map(({ how }) => how),
    runs,
    afterClose: getCacheService() === undefined,
  }),
)
