import { defineErrors, type RawRequest, type Request } from '../kernel/index.ts'
import { connectionHeaders } from './shared/http/connection-headers.ts'

export const { BodyParsedError } = defineErrors({
  BodyParsedError: (route: string, plugin: string) =>
    `${route} forwards a body that was already parsed. Give the route the option ${plugin}: false`,
})

/**
 * The request as a web `Request`, for handlers that expect one: those of authentication libraries and other frameworks,
 * and `fetch`. Return their responses unchanged.
 *
 * Its body comes from the connection while the handler reads it, so no parser may have read it before: give the route
 * `json: false`, and the same for the other parsers of the server. Its signal is `req.signal`. The headers of the connection
 * itself are left out (RFC 9110 section 7.6.1).
 *
 * @throws BodyParsedError if a parser has read the body.
 * @example
 * const auth = { handler: async (request: globalThis.Request) => globalThis.Response.json({ at: request.url }) }
 * router.post('/api/auth/*', { json: false }, (req) => auth.handler(webRequest(req)))
 */
export function webRequest(req: Request): globalThis.Request {
  const { method, raw, signal } = req
  const headers = new Headers(req.rawHeaders)
  for (const name of connectionHeaders(headers.get('connection'))) headers.delete(name)
  // `Expect` has been handled here; `fetch` of Node.js would refuse to send it on.
  headers.delete('expect')
  // Web requests with these methods must not have a body.
  if (!raw.hasBody || method === 'GET' || method === 'HEAD') {
    return new globalThis.Request(req.url, { method, headers, signal })
  }
  if (req.body !== undefined) {
    const type = headers.get('content-type')?.toLowerCase() ?? ''
    const plugin = ['multipart/', 'x-www-form'].findIndex((part) => type.includes(part))
    throw BodyParsedError(`${method} ${req.route ?? req.path}`, ['upload', 'urlencoded'][plugin] ?? 'json')
  }
  const init = { method, headers, signal, body: bodyOf(raw), duplex: 'half' }
  return new globalThis.Request(req.url, init)
}

/** The body as a stream. Nothing is read before the first pull, so code that refuses a request does not have to receive it. */
function bodyOf(raw: RawRequest): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = raw.stream()[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(value as Uint8Array<ArrayBuffer>)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
