import { RouteCollection, Server } from 'framework'

// A module whose default export Bun and `deno serve` serve.
/** @type {string[]} */
const warnings = []
const quiet = () => {}
/** @type {any} */
const logger = {
  debug: quiet,
  info: quiet,
  error: quiet,
  warn: (/** @type {unknown} */ _fields, /** @type {string} */ message) => warnings.push(message),
  child: () => logger,
}
const server = new Server({
  logger,
  router: new RouteCollection(),
  gracefulShutdown: false,
  plugins: { trustProxy: { trustedProxies: ['127.0.0.1'] }, rateLimit: { limit: 1 } },
})
server.get('/', (req) => ({ ip: req.ip, warnings }))

export default { fetch: server.fetch, port: 0, hostname: '127.0.0.1' }
