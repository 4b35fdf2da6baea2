// What the servers written by hand for Bun and Deno share: Ajv, and picking the members that a response schema would let
// through, because a serialiser in JavaScript costs more there than the native one.
import {
  account,
  items,
  logTarget,
  many,
  orderSchema,
  origin,
  receipt,
  scenario,
  securityHeaders,
  userParams,
  userQuery,
} from './routes.mjs'

const json = { 'content-type': 'application/json; charset=utf-8' }

/** @param {unknown} value @param {Record<string, string>} [headers] @param {number} [status] */
export const answer = (value, headers = json, status = 200) => new Response(JSON.stringify(value), { status, headers })

async function validators() {
  const { Ajv } = await import('ajv')
  const { default: formats } = await import('ajv-formats')
  const ajv = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: true })
  formats.default(ajv)
  return { isOrder: ajv.compile(orderSchema), isParams: ajv.compile(userParams), isQuery: ajv.compile(userQuery) }
}

const { isOrder, isParams, isQuery } = await (['validated', 'full', 'serialised'].includes(scenario)
  ? validators()
  : {})
const pickReceipt = ({ id, lines, total }) => ({ id, lines, total })
const pickAccount = ({ id, name, email, locale, roles, orders }) => ({
  id,
  name,
  email,
  locale,
  roles,
  orders: orders.map(({ id, total, at }) => ({ id, total, at })),
})
const pickItem = ({ id, title, price, stock, tags, at }) => ({ id, title, price, stock, tags, at })

/** @param {Request} request */
export async function validatedPost(request) {
  const body = await request.json()
  return isOrder(body) ? answer(pickReceipt(receipt(body))) : answer(isOrder.errors, json, 422)
}

/** @param {string} id @param {string} url */
export function serialisedGet(id, url) {
  const mark = url.indexOf('?')
  const params = { id }
  const query = mark === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(mark + 1)))
  return isParams(params) && isQuery(query)
    ? answer(pickAccount(account(params.id, query)))
    : answer(isParams.errors ?? isQuery.errors, json, 422)
}

export const list = () => answer(items.map(pickItem))

async function makeFull() {
  const { pino } = await import('pino')
  const log = pino(pino.destination(logTarget))
  const shared = { ...json, ...securityHeaders, vary: 'Origin' }
  let count = 0
  /** @param {Request} request */
  return async (request) => {
    const start = performance.now()
    const reqId = `r${++count}`
    const body = await request.json()
    const allowed = request.headers.get('origin') === origin ? { 'access-control-allow-origin': origin } : {}
    const headers = { ...shared, 'x-request-id': reqId, ...allowed }
    const status = isOrder(body) ? 200 : 422
    const response = answer(status === 200 ? pickReceipt(receipt(body)) : isOrder.errors, headers, status)
    const ms = performance.now() - start
    log.info({ reqId, method: request.method, path: '/orders', route: '/orders', status, ms }, 'request')
    return response
  }
}
export const fullStack = scenario === 'full' ? await makeFull() : undefined

/** find-my-way, for a `fetch` handler. */
async function makeRouter() {
  const { default: findMyWay } = await import('find-my-way')
  const router = findMyWay()
  for (const { i, path } of many.pages) router.on('GET', path, () => answer({ route: i }))
  for (const { i, kind } of many.parts) {
    router.on('GET', `${kind}/:a/parts/:b`, (_request, _response, { a, b }) => answer({ route: i, a, b }))
  }
  for (const { i, area } of many.files) {
    router.on('GET', `${area}/*`, (_request, _response, params) => answer({ route: i, rest: params['*'] }))
  }
  return router
}
const router = scenario === 'many' ? await makeRouter() : undefined

/** @param {Request} request @param {string} path */
export function routed(request, path) {
  const found = router.find(request.method, path)
  return found === null ? miss() : found.handler(request, undefined, found.params)
}

export const miss = () => new Response(null, { status: 404 })
