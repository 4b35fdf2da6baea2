import { generateKeyPairSync } from 'node:crypto'
import { slow } from '../../../docs/examples/slow/4-route-option.ts'
import { slowReport } from '../../../docs/examples/slow/6-report.ts'
import type { Surroundings } from './run.ts'

const pair = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** The assumptions of pages, by page. */
export const surroundings: Readonly<Record<string, Partial<Surroundings>>> = {
  'docs/cli.md': { env: { APP_PRIVATE_KEY: pair.privateKey, APP_PUBLIC_KEY: pair.publicKey } },
  'docs/guides/faq.md': { files: { 'public/index.html': '<p>app</p>' } },
  'docs/plugins/controllers.md': { files: { 'src/controllers/hello.ts': 'export {}\n' } },
  'docs/plugins/cookie.md': {
    env: {
      COOKIE_SECRET: 'a-secret-of-32-characters-or-more',
      COOKIE_SECRET_BEFORE: 'another-of-32-characters-or-more',
    },
  },
  'docs/plugins/graphql.md': { files: { 'src/schema.graphql': 'type Query { hello: String }' } },
  'docs/plugins/health.md': { globals: { database: { ping: async () => true } } },
  'docs/plugins/requestContext.md': { env: { SESSION_SECRET: 'a-secret-of-32-characters-or-more' } },
  'docs/plugins/session.md': { env: { SESSION_SECRET: 'a-secret-of-32-characters-or-more' } },
  'docs/plugins/static.md': {
    files: { 'public/index.html': '<p>hello</p>', 'assets/app.js': 'start()', 'reports/2026.txt': 'numbers' },
  },
  'docs/plugins/timeout.md': { globals: { fetch: async () => Response.json(['a row']) } },
  'docs/plugins/upload.md': { globals: { bucket: { put: async () => {}, remove: async () => {} } } },
  'docs/reference/routes.md': {
    globals: { middleware: (_req: unknown, _res: unknown, next: () => unknown) => next() },
  },
  'docs/reference/server.md': { prepare: (server) => void server.get('/admin/stats', () => 'numbers') },
  'docs/writing-a-plugin.md': { globals: { slowReport }, prepare: (server) => void server.register(slow()) },
}
