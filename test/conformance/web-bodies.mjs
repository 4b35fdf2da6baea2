import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { definePlugin, webRequest } from 'framework'

/** @type {Record<string, ((bytes: Buffer) => Promise<Buffer>) | undefined>} */
const compress = {
  gzip: promisify(zlib.gzip),
  br: promisify(zlib.brotliCompress),
  deflate: promisify(zlib.deflate),
  // Not every runtime has it.
  zstd: 'zstdCompress' in zlib ? promisify(/** @type {any} */ (zlib).zstdCompress) : undefined,
}

/** @param {() => Promise<unknown>} read */
const codeOf = async (read) => {
  try {
    await read()
    return 'read'
  } catch (error) {
    return /** @type {any} */ (error).code
  }
}

/** @param {AbortSignal} signal */
const aborted = (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')))

/**
 * Routes that answer with what the web knows as a body.
 *
 * @param {string[]} events
 */
export function webBodies(events) {
  return definePlugin({
    name: 'webBodies',
    setup(ctx) {
      ctx.get('/web/response', (_req, res) => {
        res.header('x-before', '1').header('x-both', 'res').vary('Origin').appendHeader('set-cookie', 'a=1')
        const headers = new Headers({ 'x-both': 'web', vary: 'Accept, Origin', 'content-type': 'text/plain' })
        headers.append('set-cookie', 'b=2; Path=/')
        headers.append('set-cookie', 'c=3')
        return new Response('grüße', { status: 202, headers })
      })
      ctx.get('/web/plain', () => new Response('hello'))
      ctx.get('/web/latin1/:kind', (req, res) => {
        const headers = { 'x-name': 'Jürgen' }
        if (req.params.kind === 'response') return new Response('ü', { headers })
        if (req.params.kind === 'json') return res.header('x-name', 'Jürgen').json('ü')
        return res.header('x-name', 'Jürgen').stream(
          (async function* () {
            yield 'ü'
            yield new TextEncoder().encode('ü')
          })(),
        )
      })
      ctx.get('/web/odd-length', () => new Response('hello', { headers: { 'content-length': '0x5' } }))
      ctx.get('/web/after', (_req, res) => {
        res.json('first')
        return new Response(new ReadableStream({ cancel: () => void events.push('web second let go') }))
      })
      ctx.get('/web/wrong-header', () => {
        const body = new ReadableStream({ cancel: () => void events.push('web wrong let go') })
        // The web knows the character as a byte of a header, and no connection does.
        const headers = new Headers({ 'x-good': '1', 'x-bad': 'a\u0001' })
        return new Response(body, { headers })
      })
      ctx.get('/web/json', () => globalThis.Response.json({ a: 1 }))
      ctx.get('/web/empty', () => new Response(null, { status: 204 }))
      ctx.get('/web/redirect', () => Response.redirect('http://127.0.0.1/there', 307))
      ctx.get('/web/error', () => Response.error())
      ctx.get('/web/used', async () => {
        const response = new Response('read')
        await response.text()
        return response
      })
      ctx.get('/web/blob', () => new Blob(['a,b\n'], { type: 'text/csv' }))
      ctx.get('/web/form', () => {
        const form = new FormData()
        form.set('name', 'Ada')
        return form
      })
      ctx.get('/web/params', (_req, res) => res.created(new URLSearchParams({ q: 'a b' })))
      ctx.get('/web/buffer', () => new Uint16Array([0x6968]).buffer)
      ctx.get('/web/view', () => new DataView(new TextEncoder().encode('-hi-').buffer, 1, 2))
      const shared = new Uint8Array(new SharedArrayBuffer(2)).map((_, i) => 104 + i)
      ctx.get('/web/shared', () => Buffer.from(shared.buffer))
      ctx.get('/web/shared-buffer', () => shared.buffer)
      ctx.get('/web/shared-pieces', (_req, res) =>
        res.stream(
          (async function* () {
            yield shared
          })(),
        ),
      )
      ctx.get('/web/endless', () => {
        const body = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(16_384)),
          cancel: () => void events.push('web endless cancelled'),
        })
        return new Response(body)
      })
      ctx.get('/web/upstream/:coding', async (req, res) => {
        const codings = req.params.coding.split(', ').map((coding) => compress[coding])
        if (codings.includes(undefined)) return res.notImplemented()
        /** @param {Buffer} bytes */
        const encode = async (bytes) => {
          for (const coding of codings) bytes = (await coding?.(bytes)) ?? bytes
          return bytes
        }
        res.header('content-encoding', req.params.coding).header('x-upstream', 'yes').header('keep-alive', 'timeout=3')
        return res.type('text').bytes(await encode(Buffer.from('hello '.repeat(100))))
      })
      /** @param {Request} request */
      const echo = async (request) => {
        if (request.url.endsWith('?leave')) events.push('web signal awaited')
        if (request.url.endsWith('?leave')) events.push(`web signal ${await aborted(request.signal)}`)
        return Response.json({
          method: request.method,
          path: new URL(request.url).pathname,
          headers: Object.fromEntries(request.headers),
          body: (await request.text()).length,
        })
      }
      const unread = { json: false, urlencoded: false }
      ctx.get('/web/handler/*', (req) => echo(webRequest(req)))
      ctx.post('/web/handler/*', unread, (req) => echo(webRequest(req)))
      ctx.post('/web/refuses', unread, (req) => new Response(webRequest(req).method, { status: 401 }))
      ctx.post('/web/twice', unread, async (req) => {
        const headers = [...webRequest(req).headers.keys()].length
        const text = await webRequest(req).text()
        const codes = await Promise.all([
          codeOf(() => webRequest(req).text()),
          codeOf(() => req.raw.bytes(10)),
          codeOf(() => req.raw.stream()[Symbol.asyncIterator]().next()),
        ])
        return { hasHeaders: headers > 0, text, codes }
      })
      ctx.post('/web/part', unread, async (req) => {
        const { value } = await /** @type {any} */ (webRequest(req).body).getReader().read()
        return { some: value.length > 0 }
      })
      ctx.post('/web/parsed', (req) => echo(webRequest(req)))
      ctx.post('/web/forwarded', unread, (req) => {
        const { pathname } = new URL('/web/handler/x', req.server.url)
        const request = webRequest(req)
        request.headers.delete('host')
        return fetch(new Request(req.server.url + pathname, request))
      })
      ctx.get('/web/proxy/:coding', (req) =>
        fetch(`${req.server.url}/web/upstream/${encodeURIComponent(req.params.coding)}`),
      )
    },
  })()
}
