// What else a scenario needs is loaded by that scenario, so the boot of `hello` is that of the framework alone.
import {
  defineHandler,
  getRouterParam,
  getValidatedQuery,
  getValidatedRouterParams,
  H3,
  handleCors,
  readBody,
  readValidatedBody,
  serve,
} from 'h3'
import {
  hello,
  logTarget,
  many,
  origin,
  port,
  receipt,
  scenario,
  securityHeaders,
  shownAccount,
  shownItems,
  user,
} from '../servers/routes.mjs'

const app = new H3()
async function validated() {
  const { orderSchema } = await import('./schemas-zod.mjs')
  app.post('/orders', async (event) => receipt(await readValidatedBody(event, orderSchema)))
}
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', hello),
  params: () => app.get('/users/:id', (event) => user(getRouterParam(event, 'id'))),
  post: () => app.post('/orders', async (event) => receipt(await readBody(event))),
  validated,
  async full() {
    const { pino } = await import('pino')
    const log = pino(pino.destination(logTarget))
    const security = Object.entries(securityHeaders)
    app.use(async (event, next) => {
      const start = performance.now()
      const reqId = crypto.randomUUID()
      const { headers } = event.res
      headers.set('x-request-id', reqId)
      for (const [name, value] of security) headers.set(name, value)
      const preflight = handleCors(event, { origin: [origin], exposeHeaders: [] })
      if (preflight !== false) return preflight
      const answer = await next()
      const ms = performance.now() - start
      const { pathname: path } = event.url
      const status = event.res.status ?? 200
      log.info({ reqId, method: event.req.method, path, route: '/orders', status, ms }, 'request')
      return answer
    })
    await validated()
  },
  async serialised() {
    const { userParams, userQuery } = await import('./schemas-zod.mjs')
    const answer = defineHandler(async (event) => {
      const { id } = await getValidatedRouterParams(event, userParams)
      return shownAccount(id, await getValidatedQuery(event, userQuery))
    })
    app.get('/users/:id', answer)
  },
  list: () => app.get('/items', () => shownItems),
  many() {
    for (const { i, path } of many.pages) app.get(path, () => ({ route: i }))
    for (const { i, kind } of many.parts) {
      app.get(`${kind}/:a/parts/:b`, ({ context: { params } }) => ({ route: i, a: params.a, b: params.b }))
    }
    for (const { i, area } of many.files) {
      app.get(`${area}/**:rest`, ({ context: { params } }) => ({ route: i, rest: params.rest }))
    }
  },
}
await scenarios[scenario]()
serve(app, { port, hostname: '127.0.0.1', silent: true })
