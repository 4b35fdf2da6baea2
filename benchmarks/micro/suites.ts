import { cacheCases } from '../services/cache.ts'
import { compressionCases } from '../services/compression.ts'
import { mailCases } from '../services/mail.ts'
import { mqttCases } from '../services/mqtt.ts'
import { queuesCases } from '../services/queues.ts'
import { rateLimitCases } from '../services/rate-limit.ts'
import type { ServiceName } from '../services/servers.ts'
import { sessionCases } from '../services/session.ts'
import { storageCases } from '../services/storage.ts'
import { websocketCases } from '../services/websocket.ts'
import type { Built } from './built.ts'
import { chainCases } from './chain.ts'
import type { MicroCase, Pace } from './harness.ts'
import { injectCases } from './inject.ts'
import { responsesCases } from './responses.ts'
import { routerCases } from './router.ts'
import { validationCases } from './validation.ts'

export interface MicroSuite extends Pace {
  readonly title: string
  readonly reference: string
  /** The servers that the suite uses. */
  readonly services?: readonly ServiceName[]
  cases(built: Built): Promise<MicroCase[]>
}

const short: Pace = { sliceMs: 25, warmMs: 250 }
// fastify.inject runs through so much code that its cost still halves after a second.
const long: Pace = { sliceMs: 80, warmMs: 2000 }
const service = { reference: 'by hand', sliceMs: 60, warmMs: 400 }

export const microSuites = {
  router: { title: 'Router', reference: 'find-my-way', ...short, cases: routerCases },
  chain: { title: 'Chain of middlewares', reference: 'by hand', ...short, cases: chainCases },
  responses: { title: 'Responses with a schema', reference: 'fast-json-stringify', ...short, cases: responsesCases },
  validation: { title: 'Validation', reference: 'Ajv', ...short, cases: validationCases },
  queues: {
    title: 'Service: queues',
    ...service,
    services: ['redis-server', 'postgres'],
    cases: queuesCases,
  },
  websocket: { title: 'Service: websockets', ...service, cases: websocketCases },
  mqtt: { title: 'Service: MQTT', ...service, services: ['mosquitto'], cases: mqttCases },
  cache: { title: 'Service: cache', ...service, services: ['redis-server'], cases: cacheCases },
  'rate-limit': { title: 'Service: rate limit', ...service, services: ['redis-server'], cases: rateLimitCases },
  session: { title: 'Service: session', ...service, services: ['redis-server'], cases: sessionCases },
  storage: { title: 'Service: storage', ...service, services: ['s3rver'], cases: storageCases },
  mail: { title: 'Service: mail', ...service, services: ['smtp-server'], cases: mailCases },
  compression: { title: 'Service: compression', ...service, cases: compressionCases },
  inject: { title: 'Inject', reference: 'fastify.inject', ...long, cases: injectCases },
} as const satisfies Record<string, MicroSuite>

export type MicroName = keyof typeof microSuites

/** The servers that any of these suites uses. */
export const servicesOf = (names: readonly string[]): ServiceName[] =>
  names.flatMap((name) => (microSuites as Readonly<Record<string, MicroSuite>>)[name]?.services ?? [])
