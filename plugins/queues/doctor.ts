import { type DoctorCheck, missingPackage, productionWarning } from '../shared/doctor/check.ts'
import { postgresClock } from '../shared/doctor/postgres.ts'
import { redisChecks } from '../shared/doctor/redis.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import { queueConfig } from './config.ts'
import { driverOf, isConfigured } from './engines.ts'
import type { queuesOptions } from './options.ts'
import { allQueues, declaredQueues } from './queue.ts'

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
    find: ({ booted }) =>
      allQueues()
        .filter((queue) => booted && !isConfigured(queue))
        .map(({ name, kind }) => ({
          problem: `the queue "${name}" is one of ${kind}, which is not configured`,
          remedy: `Configure it: background: { queues: { config: { ${kind}: { … } } } }`,
        })),
  },
  ...(['bullmq', 'pgboss', 'sqs'] as const).map((kind) =>
    missingPackage(async () => {
      const queue = declaredQueues().find((one) => one.kind === kind)
      return queue && driverOf(queue, queue.name)
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
    () => {
      const { bullmq } = queueConfig()
      return bullmq !== undefined && has('bullmq') ? { address: bullmq.connection } : undefined
    },
    { code: 'queues.redis-evicts', level: 'error', what: 'messages' },
  ),
  postgresClock('a queue of pg-boss (pgbossQueue)', () => {
    const { pgboss } = queueConfig()
    if (pgboss === undefined || !has('pgboss')) return undefined
    const { ssl, connectionString: url, options } = pgboss
    return { address: { url, ...(ssl !== undefined && { ssl }), ...options } }
  }),
]
