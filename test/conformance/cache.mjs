import { connect } from 'node:net'
import process from 'node:process'
import { getCacheService, RouteCollection, Server } from 'framework'

/** The cache is that of the process. */
export const isAlone = true

/**
 * The cache on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [adapter]
 * @param {string} [redis] Its address, or ''.
 */
export async function run(adapter, redis) {
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
    plugins: {
      urlencoded: true,
      cache: redis ? { provider: 'redis', redis: { url: redis, prefix: `${process.pid}:`, timeout: 10_000 } } : true,
    },
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
  server.get('/body/:kind', { cache: true }, (req) => JSON.stringify(req.body ?? 'none'))
  server.get('/unread/:kind', { cache: true, json: false, urlencoded: false }, async (req) => {
    return Buffer.from(await req.raw.bytes(1000)).toString() || 'none'
  })
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

  /** What comes back for bytes that no client library sends. @param {string} text @returns {Promise<string>} */
  function send(text) {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
        if (/\r\n\r\n.*none/s.test(answer)) socket.destroy()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(answer))
    })
  }

  // Requests that have a method without a body, and one.
  const json = 'content-type: application/json\r\n'
  const form = 'content-type: application/x-www-form-urlencoded\r\n'
  const planted = {
    json: `${json}content-length: 14\r\n\r\n{"lang":"eve"}`,
    chunked: `${json}transfer-encoding: chunked\r\n\r\nd\r\n{"lang":"eve"\r\n1\r\n}\r\n0\r\n\r\n`,
    form: `${form}content-length: 8\r\n\r\nlang=eve`,
    empty: `${json}content-length: 0\r\n\r\n`,
  }
  /** @type {Record<string, string>} */
  const unpoisoned = {}
  for (const path of ['body', 'unread']) {
    for (const [kind, rest] of Object.entries(planted)) {
      const head = `GET /${path}/${kind} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n`
      await send(head + rest)
      const next = await ask(`/${path}/${kind}`)
      unpoisoned[`${path} ${kind}`] = Buffer.from(next.body).toString().replaceAll(/["\\]/g, '')
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
  const service = server.services.get('cache')
  const removed = [await service.invalidate(['b:1']), await service.invalidatePattern('cache:GET:/s*')]
  const again = [await ask('/slow'), await ask('/bytes/1')]
  await server.close()

  return {
    storm: { miss: count('MISS'), others: count('WAIT') + count('HIT') },
    hit: [hit.status, hit.how, hit.type, Buffer.from(hit.body).toString(), hit.etag === storm[0]?.etag],
    known: [known.status, known.how, known.body.length],
    head: [head.status, head.how, head.body.length],
    personal: personal.how,
    bytes: bytes.map(({ how, type, body }) => [how, type, body]),
    removed,
    again: again.map(({ how }) => how),
    runs,
    unpoisoned,
    // Other cases of this process may have a cache as well.
    afterClose: getCacheService() !== service,
  }
}
