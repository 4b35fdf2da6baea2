// Thirty plugins, of which none needs another server.
import { LocalStorageProvider, Server } from 'framework'
import { bearer } from 'framework/plugins/auth'
import { filesFolder, hello, port } from './routes.mjs'

const info = { title: 'Thirty plugins', version: '1.0.0' }
const plugins = {
  ...{ trustProxy: { trustedProxies: ['127.0.0.1'] }, methodOverride: true, telemetry: true, requestContext: true },
  ...{ helmet: true, health: true, metrics: { addresses: ['127.0.0.1'] }, cors: { origin: ['https://app.example'] } },
  ...{ overload: true, timeout: true, rateLimit: { limit: 1e9 }, csrf: true, cookie: true },
  session: { secret: 'a secret of thirty-two characters' },
  auth: { schemes: { token: bearer(() => undefined) }, default: /** @type {const} */ ('optional') },
  ...{ locks: true, storage: { providers: { main: new LocalStorageProvider({ root: filesFolder }) } } },
  ...{ json: true, urlencoded: true, upload: true, websocket: true, channels: true, cache: true },
  database: { url: 'sqlite::memory:' },
  ...{ static: { root: filesFolder, prefix: '/files' }, compression: true, openapi: { info }, asyncapi: { info } },
  cron: { crons: [{ schedule: '0 0 1 1 *', handler: () => {}, options: { name: 'yearly' } }] },
  queues: { run: true },
}
const server = new Server({ port, host: '127.0.0.1', plugins })
server.get('/', hello)
await server.listen()
