import { type DoctorCheck, type DoctorInput, missingPackage, productionWarning } from '../shared/doctor/check.ts'
import { postgresClock } from '../shared/doctor/postgres.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { queuesOptions } from '../shared/engines/options.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { Engines } from './engines.ts'
import { allQueues } from './registry.ts'

const enginesOf = ({ services }: DoctorInput): Engines => services.queues!.engines
/** The queues with their engines in this server. */
const queuesIn = ({ services }: DoctorInput) => services.queues!.resolved()
const has = (input: DoctorInput, kind: string) => queuesIn(input).some((queue) => queue.kind === kind)

export const checks: readonly DoctorCheck<SettingsOf<typeof queuesOptions>>[] = [
  productionWarning('queues.memory', (input) =>
    queuesIn(input)
      .filter(({ kind }) => kind === 'memory')
      .map(({ name }) => ({
        problem: `the queue "${name}" is in memory: what waits in it is lost when the process ends`,
        remedy:
          'Put it on an engine: background: { queues: { config: { queues: { default: "bullmq" } } } }, or QUEUE_ENGINE=bullmq; a memoryQueue has to become a queue() first',
      })),
  ),
  {
    code: 'queues.public-page',
    level: 'error',
    production: true,
    explains: 'QueuePageError',
    find({ settings: { ui } }) {
      if (ui === false || ui.middlewares.length > 0) return undefined
      return {
        problem: `everyone could read and change the queues at ${ui.path}, so the server does not start in production`,
        remedy: 'Guard the page: background: { queues: { ui: { middlewares: [staffOnly] } } }',
      }
    },
  },
  {
    code: 'queues.not-configured',
    level: 'error',
    // The boot configures the queues: if it has failed, none is configured.
    find: (input) =>
      queuesIn(input)
        .filter((queue) => input.booted && !enginesOf(input).isConfigured(queue))
        .map(({ name, kind }) => ({
          problem: `the queue "${name}" uses ${kind}, which is not configured`,
          remedy: `Configure it: background: { queues: { config: { ${kind}: { … } } } }`,
        })),
  },
  ...(['bullmq', 'pgboss', 'sqs'] as const).map((kind) =>
    missingPackage(async (input) => {
      const queue = input.services.queues!.declared().find((one) => one.kind === kind)
      return queue && enginesOf(input).driverOf(queue)
    }),
  ),
  {
    code: 'queues.unused',
    level: 'hint',
    find() {
      if (allQueues().length > 0) return undefined
      return {
        problem: 'no module that the application imports declares a queue',
        remedy: 'Import the modules with the queues, or remove the plugin',
      }
    },
  },
  ...redisChecks<SettingsOf<typeof queuesOptions>>(
    'a queue of BullMQ (bullmqQueue)',
    (input) => {
      const { bullmq } = enginesOf(input).config
      return bullmq !== undefined && has(input, 'bullmq') ? { address: bullmq.connection } : undefined
    },
    { code: 'queues.redis-evicts', level: 'error', what: 'messages' },
  ),
  postgresClock('a queue of pg-boss (pgbossQueue)', (input) => {
    const { pgboss } = enginesOf(input).config
    if (pgboss === undefined || !has(input, 'pgboss')) return undefined
    const { ssl, connectionString: url, options } = pgboss
    return { address: { url, ...(ssl !== undefined && { ssl }), ...options } }
  }),
]
