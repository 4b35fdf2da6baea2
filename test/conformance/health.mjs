import { readdirSync } from 'node:fs'
import {
  AzureBlobStorageProvider,
  bullmqQueue,
  pgbossQueue,
  RouteCollection,
  S3StorageProvider,
  Server,
} from 'framework'

/**
 * A server with everything that brings a check for the probe.
 *
 * @param {Record<string, any>} options Those of the server; in `services` where the other servers are.
 */
export async function start({ services, schema, ...options }) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  bullmqQueue('health')
  pgbossQueue('health')
  const { redis, postgres, mqtt, smtp, s3, azure } = services
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const server = new Server({
    ...options,
    port: 0,
    host: '127.0.0.1',
    logger,
    router: new RouteCollection(),
    background: {
      queues: {
        config: {
          bullmq: { connection: redis },
          pgboss: { connectionString: postgres, schema },
        },
      },
      mqtt: { connect: { url: mqtt, maxReconnectDelay: 500 } },
    },
    plugins: {
      health: { cacheFor: { storage: 0, mailer: 0 } },
      metrics: { addresses: ['127.0.0.1'] },
      session: { secret: 'a secret of thirty-two characters', store: { redis } },
      rateLimit: { store: { redis } },
      cache: { provider: 'redis', redis: { url: redis } },
      websocket: true,
      channels: { store: { redis } },
      storage: {
        providers: {
          s3: new S3StorageProvider({ bucket: 'objects', endpoint: s3, credentials }),
          azure: new AzureBlobStorageProvider({ container: 'objects', connectionString: azure }),
        },
        defaultProvider: 's3',
      },
      mailer: {
        providers: { main: { transporter: { host: '127.0.0.1', port: smtp }, from: 'a@example.org' } },
        defaultProvider: 'main',
      },
    },
  })
  server.get('/descriptors', { rateLimit: false }, () => readdirSync('/proc/self/fd').length)
  await server.listen()
  return { port: server.port }
}
