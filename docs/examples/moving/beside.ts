import { HttpError, type RouteCollection, Server, webRequest } from 'framework'

/** Makes a server that handles the routes that have moved, and passes every other request to the old application at `oldUrl`. */
export function makeServer(moved: RouteCollection, oldUrl: string) {
  const server = new Server({ router: moved })
  // The old application reads bodies and describes its routes itself.
  const unread = { json: false, urlencoded: false, upload: false, apidoc: false } as const
  server.any('/*', unread, async (req) => {
    const { host, pathname, search } = new URL(req.url)
    // Not `new URL(pathname, oldUrl)`: the path `//evil.example` would become another host.
    const target = Object.assign(new URL(oldUrl), { pathname, search })
    const request = new globalThis.Request(target, webRequest(req))
    for (const name of ['host', 'forwarded']) request.headers.delete(name)
    request.headers.set('x-forwarded-host', host)
    request.headers.set('x-forwarded-proto', req.protocol)
    request.headers.set('x-forwarded-for', req.ip)
    try {
      // A redirect is for the client to follow.
      return await fetch(request, { redirect: 'manual', signal: req.signal })
    } catch (cause) {
      throw new HttpError(502, { cause })
    }
  })
  return server
}
