// The floor for a web handler: `Bun.serve` with fetch, `Deno.serve`, and as little else as the scenario needs.
import { answer, fullStack, list, miss, routed, serialisedGet, validatedPost } from './by-hand.mjs'
import { hello, port, receipt, scenario, user } from './routes.mjs'

/** The path and the query of a URL, without parsing it. @param {string} url */
const pathOf = (url) => url.slice(url.indexOf('/', 8))

const get = (/** @type {Request} */ request, /** @type {string} */ path) =>
  request.method === 'GET' && pathOf(request.url) === path
const isOrders = (/** @type {Request} */ request) => request.method === 'POST' && pathOf(request.url) === '/orders'

/** @param {(id: string, path: string) => Response} then */
const users = (then) => (/** @type {Request} */ request) => {
  const path = pathOf(request.url)
  if (request.method !== 'GET' || !path.startsWith('/users/')) return miss()
  const mark = path.indexOf('?')
  return then(decodeURIComponent(path.slice(7, mark === -1 ? undefined : mark)), path)
}

/** @type {Record<string, (request: Request) => Response | Promise<Response>>} */
const handlers = {
  hello: (request) => (get(request, '/') ? answer(hello()) : miss()),
  params: users((id) => answer(user(id))),
  post: async (request) => (isOrders(request) ? answer(receipt(await request.json())) : miss()),
  validated: (request) => (isOrders(request) ? validatedPost(request) : miss()),
  full: (request) => (isOrders(request) ? fullStack(request) : miss()),
  serialised: users(serialisedGet),
  list: (request) => (get(request, '/items') ? list() : miss()),
  many: (request) => routed(request, pathOf(request.url)),
}

const fetch = handlers[scenario]
if (globalThis.Bun) globalThis.Bun.serve({ port, hostname: '127.0.0.1', fetch })
else globalThis.Deno.serve({ port, hostname: '127.0.0.1' }, fetch)
