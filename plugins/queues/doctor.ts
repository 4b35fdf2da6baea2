import { type DoctorCheck, type DoctorInput, missingPackage, productionWarning } from '../shared/doctor/check.ts'
import { postgresClock } from '../shared/doctor/postgres.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { Engines } from './engines.ts'
import type { queuesOptions } from './options.ts'
import { allQueues } from './registry.ts'

const enginesOf = ({ services }: DoctorInput): Engines => services.queues!.engines
const has = (kind: string) => allQueues().some((queue) => queue.kind === kind)

export const checks: readonly DoctorCheck<SettingsOf<typeof queuesOptions>>[] = [
  productionWarning('queues.memory', () =>
    allQueues()
      .filter(({ kind }) => kind === 'memory')
      .map(({ name }) => ({
        problem: `the queue "${name}" is in memory: what waits in it is lost when the process ends`,
        remedy: 'Make it one of an engine: bullmqQueue, pgbossQueue or sqsQueue',
      })),
  ),
  {
    code: 'queues.not-configured',
    level: 'error',
    // The boot configures the queues: if it has failed, none is configured.
    find: (input) =>
      allQueues()
        .filter((queue) => input.booted && !enginesOf(input).isConfigured(queue))
        .map(({ name, kind }) => ({
          problem: `the queue "${name}" is one of ${kind}, which is not configured`,
          remedy: `Configure it: background: { queues: { config: { ${kind}: { … } } } }`,
        })),
  },
  ...(['bullmq', 'pgboss', 'sqs'] as const).map((kind) =>
    missingPackage(async ({ services }) => {
      const { engines } = services.queues!
      const queue = allQueues().find((one) => one.kind === kind && engines.isConfigured(one))
      return queue && engines.driverOf(queue, queue.name)
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
      return bullmq !== undefined && has('bullmq') ? { address: bullmq.connection } : undefined
    },
    { code: 'queues.redis-evicts', level: 'error', what: 'messages' },
  ),
  postgresClock('a queue of pg-boss (pgbossQueue)', (input) => {
    const { pgboss } = enginesOf(input).config
    if (pgboss === undefined || !has('pgboss')) return undefined
    const { ssl, connectionString: url, options } = pgboss
    return { address: { url, ...(ssl !== undefined && { ssl }), ...options } }
  }),
]
