import { awsVariables, optional, requiredSecret } from './environment/variables.ts'

/** The kinds of queues, with the packages of their engines and the variables of their configuration. */
export const queues = {
  bullmq: { packages: ['bullmq', 'ioredis'], variables: [requiredSecret('REDIS_URL', 'redis://127.0.0.1:6379')] },
  pgboss: {
    packages: ['pg-boss'],
    variables: [requiredSecret('DATABASE_URL', 'postgres://127.0.0.1:5432/postgres')],
  },
  sqs: {
    packages: ['@aws-sdk/client-sqs'],
    // The endpoint is only for services other than AWS.
    variables: [optional('SQS_ENDPOINT', 'http://127.0.0.1:9324'), ...awsVariables],
  },
  memory: { packages: [], variables: [] },
}

type QueueKind = keyof typeof queues
export const queueKinds = Object.keys(queues) as [QueueKind, ...QueueKind[]]
