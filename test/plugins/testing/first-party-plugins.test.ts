import { MemoryStorageProvider, type PluginFactory, type Server } from 'framework'
import * as plugins from 'framework/plugins'
import { bearer } from 'framework/plugins/auth'
import { memoryTransport } from 'framework/plugins/mailer'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../../plugins/catalog.ts'
import { type PluginTestOptions, testPlugin } from '../../contracts/plugin/index.ts'

type Factory = PluginFactory<unknown, object>
type Options = Omit<PluginTestOptions<unknown>, 'test' | 'with'> & { readonly with?: readonly unknown[] }

const get = (path: string, status: number) => async (server: Server) =>
  (await server.inject.get(path)).assertStatus(status)

const info = { title: 'Library', version: '1.0.0' }

/** What each plugin is tested with. */
const table: { readonly [Key in keyof typeof plugins]: Options } = {
  asyncapi: {
    with: [plugins.websocket],
    options: { info, public: true },
    wrongOptions: { path: [7], info: ['Library'] },
    use: get('/asyncapi.json', 200),
  },
  auth: {
    // The requests of these tests have no credentials.
    options: { schemes: { token: bearer(() => undefined) }, default: false },
    wrongOptions: { schemes: [{}, { token: 7 }], default: ['open'] },
  },
  cache: { wrongOptions: { provider: ['disk'], maxSize: ['much'], lockTimeout: [-1] } },
  channels: { with: [plugins.websocket], wrongOptions: { store: ['disk'], timeout: [0], keepAlive: [1] } },
  compression: { options: { threshold: 0 }, wrongOptions: { threshold: [-1], encodings: [['rar'], []] } },
  cookie: { options: { secret: '0123456789abcdef0123' }, wrongOptions: { secret: [7] } },
  cors: { options: { origin: '*' }, wrongOptions: { maxAge: [-1], origin: [7] } },
  cron: { options: { crons: [] }, wrongOptions: { crons: ['glob'], history: [-1], timezone: ['Moon/Crater'] } },
  csrf: { wrongOptions: { origins: [['https://a.example/'], 'https://a.example'] } },
  database: {
    options: { url: 'sqlite::memory:' },
    wrongOptions: { url: ['redis://localhost', 7], driver: ['oracle'], 'pool.max': [0], statementTimeout: [0] },
    use: async (server) => {
      const { rows } = await server.services.get('databases').client().query('select 1 as one')
      expect(rows).toEqual([{ one: 1 }])
    },
  },
  env: {
    options: { schema: (type: { string(): unknown }) => ({ PATH: type.string() }), file: false },
    wrongOptions: { file: [7], schema: [7] },
  },
  graphql: {
    with: [plugins.json],
    options: { schema: { typeDefs: 'type Query { one: Int }', resolvers: { Query: { one: () => 1 } } } },
    wrongOptions: { keepAlive: [0], graphiql: ['yes'] },
    use: async (server) => {
      const res = await server.inject.post('/graphql', { body: { query: '{ one }' } })
      res.assertBodyDeepEqual({ data: { one: 1 } })
    },
  },
  health: { wrongOptions: { live: ['live'], timeout: [0], checks: [7] }, use: get('/health/live', 200) },
  helmet: { wrongOptions: { xFrameOptions: ['sameorigin'], noSniff: ['yes'] } },
  idempotency: {
    with: [plugins.json],
    wrongOptions: { store: ['disk'], ttl: [1], scope: ['user'], maxSize: ['huge'] },
  },
  inspector: { isOfServer: true, wrongOptions: { keep: [0, 'all'], redact: ['iban'] }, use: get('/_inspector', 401) },
  json: { wrongOptions: { sizeLimit: ['huge', -1], maxDepth: [0] } },
  locks: {
    wrongOptions: { store: ['disk'], ttl: [1] },
    use: async (server) => expect(await server.services.get('locks').withLock('a', {}, () => 'mine')).toBe('mine'),
  },
  log: { wrongOptions: { logResponse: ['yes'], redact: ['email'] } },
  mailer: {
    options: () => ({
      providers: { main: { transporter: memoryTransport(), from: 'shop@example.org' } },
      defaultProvider: 'main',
    }),
    wrongOptions: { timeout: [0], 'providers.main.from': [7] },
    use: (server) => server.services.get('mailer').send((mail) => mail.to('ada@example.org').subject('a').text('b')),
  },
  methodOverride: {},
  metrics: { wrongOptions: { path: ['metrics'], maxSeries: [0] }, use: get('/metrics', 200) },
  mqtt: {
    options: { connect: { provider: 'memory' } },
    wrongOptions: { 'connect.provider': ['kafka'], 'connect.publishTimeout': [-1] },
  },
  openapi: {
    options: { info, public: true },
    wrongOptions: { path: [7], ui: ['yes'] },
    use: get('/docs', 200),
  },
  overload: { wrongOptions: { retryAfter: [0], sampleInterval: [1], maxRequestsInFlight: [0] } },
  queues: { wrongOptions: { run: ['yes'], config: [7] } },
  rateLimit: { wrongOptions: { limit: [0, 'many'], windowMs: [-1], store: ['disk'], statusCode: [200] } },
  requestContext: {},
  session: {
    with: [plugins.cookie],
    options: { secret: '0123456789abcdef0123' },
    wrongOptions: { secret: [7], store: [7], rolling: ['yes'] },
  },
  static: { options: { root: import.meta.dirname }, wrongOptions: { maxAge: ['soon'], dotfiles: ['perhaps'] } },
  storage: {
    options: () => ({ providers: { files: new MemoryStorageProvider() } }),
    wrongOptions: { defaultProvider: [7], 'providers.files': [7] },
    use: (server) => server.services.get('storage').putObject('a', 'b'),
  },
  telemetry: { wrongOptions: { requests: ['yes'], fetch: ['always'] } },
  timeout: { options: { ms: 5_000 }, wrongOptions: { ms: [-1, 'soon'] } },
  trustProxy: { options: { trustedProxies: 1 }, wrongOptions: { trustedProxies: [0, 'all'], header: ['via'] } },
  upload: { wrongOptions: { maxFiles: [-1], storage: ['cloud'], maxFileSize: ['huge'] } },
  urlencoded: { wrongOptions: { sizeLimit: ['huge'] } },
  tenant: {
    options: { resolve: () => 'acme' },
    wrongOptions: { resolve: ['host'], load: ['id'], default: [true, 'none'] },
  },
  webhooks: { wrongOptions: {} },
  websocket: { wrongOptions: { maxSockets: [0], pingInterval: [1], origins: [[]] } },
}

for (const [key, options] of Object.entries(table))
  describe(key, () => {
    void testPlugin(catalog[key as keyof typeof catalog] as Factory, { ...options, test } as PluginTestOptions<unknown>)
  })
