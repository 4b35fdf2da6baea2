// What else a scenario needs is loaded by that scenario, so the boot of `hello` is that of the framework alone.
import process from 'node:process'
import { Hono } from 'hono'
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

const app = new Hono()
const validation = async () => {
  const [{ zValidator }, schemas] = await Promise.all([import('@hono/zod-validator'), import('./schemas-zod.mjs')])
  return { zValidator, ...schemas }
}
async function validated() {
  const { zValidator, orderSchema } = await validation()
  app.post('/orders', zValidator('json', orderSchema), (c) => c.json(receipt(c.req.valid('json'))))
}
/** @type {Record<string, () => unknown>} */
const scenarios = {
  hello: () => app.get('/', (c) => c.json(hello())),
  params: () => app.get('/users/:id', (c) => c.json(user(c.req.param('id')))),
  post: () => app.post('/orders', async (c) => c.json(receipt(await c.req.json()))),
  validated,
  async full() {
    const [{ cors }, { requestId }, { secureHeaders }, { pino }] = await Promise.all([
      import('hono/cors'),
      import('hono/request-id'),
      import('hono/secure-headers'),
      import('pino'),
    ])
    const log = pino(pino.destination(logTarget))
    app.use(requestId())
    app.use(async (c, next) => {
      const start = performance.now()
      await next()
      const { method, path } = c.req
      const ms = performance.now() - start
      log.info({ reqId: c.get('requestId'), method, path, route: '/orders', status: c.res.status, ms }, 'request')
    })
    app.use(cors({ origin: [origin] }))
    // Hono sets no policy by default; the directives are those of helmet.
    app.use(secureHeaders({ contentSecurityPolicy: directives(securityHeaders['content-security-policy']) }))
    await validated()
  },
  async serialised() {
    const { zValidator, userParams, userQuery } = await validation()
    app.get('/users/:id', zValidator('param', userParams), zValidator('query', userQuery), (c) =>
      c.json(shownAccount(c.req.valid('param').id, c.req.valid('query'))),
    )
  },
  list: () => app.get('/items', (c) => c.json(shownItems)),
  many() {
    for (const { i, path } of many.pages) app.get(path, (c) => c.json({ route: i }))
    for (const { i, kind } of many.parts) {
      app.get(`${kind}/:a/parts/:b`, (c) => c.json({ route: i, a: c.req.param('a'), b: c.req.param('b') }))
    }
    for (const { i, area } of many.files) {
      app.get(`${area}/:rest{.+}`, (c) => c.json({ route: i, rest: c.req.param('rest') }))
    }
  },
}
await scenarios[scenario]()

/** `img-src 'self' data:` as `imgSrc: ["'self'", 'data:']`. @param {string} policy */
function directives(policy) {
  const entries = policy.split(';').map((directive) => {
    const [name = '', ...values] = directive.split(' ')
    return [name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()), values]
  })
  return Object.fromEntries(entries)
}

if (process.versions.bun) {
  globalThis.Bun.serve({ port, hostname: '127.0.0.1', fetch: app.fetch })
} else if (process.versions.deno) {
  globalThis.Deno.serve({ port, hostname: '127.0.0.1' }, app.fetch)
} else {
  const { serve } = await import('@hono/node-server')
  serve({ port, hostname: '127.0.0.1', fetch: app.fetch })
}
