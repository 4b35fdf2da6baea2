// The floor on Bun: the runtime's own table of routes.
import { answer, fullStack, list, miss, serialisedGet, validatedPost } from './by-hand.mjs'
import { hello, many, port, receipt, scenario, user } from './routes.mjs'

/** @type {Record<string, () => Record<string, unknown>>} */
const scenarios = {
  hello: () => ({ '/': { GET: () => answer(hello()) } }),
  params: () => ({ '/users/:id': { GET: (request) => answer(user(request.params.id)) } }),
  post: () => ({ '/orders': { POST: async (request) => answer(receipt(await request.json())) } }),
  validated: () => ({ '/orders': { POST: validatedPost } }),
  full: () => ({ '/orders': { POST: fullStack } }),
  serialised: () => ({ '/users/:id': { GET: (request) => serialisedGet(request.params.id, request.url) } }),
  list: () => ({ '/items': { GET: list } }),
  many: () =>
    Object.fromEntries([
      ...many.pages.map(({ i, path }) => [path, { GET: () => answer({ route: i }) }]),
      ...many.parts.map(({ i, kind }) => {
        const GET = ({ params }) => answer({ route: i, a: params.a, b: params.b })
        return [`${kind}/:a/parts/:b`, { GET }]
      }),
      ...many.files.map(({ i, area }) => {
        // Bun does not say what the wildcard matched.
        const GET = ({ url }) => answer({ route: i, rest: url.slice(url.indexOf(area, 8) + area.length + 1) })
        return [`${area}/*`, { GET }]
      }),
    ]),
}
globalThis.Bun.serve({ port, hostname: '127.0.0.1', routes: scenarios[scenario](), fetch: miss })
