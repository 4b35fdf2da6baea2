/** The kinds of queues, with the packages of their engines. */
export const queuePackages = {
  bullmq: ['bullmq', 'ioredis'],
  pgboss: ['pg-boss'],
  sqs: ['@aws-sdk/client-sqs'],
  memory: [],
} as const

export type QueueKind = keyof typeof queuePackages
export const queueKinds = Object.keys(queuePackages) as [QueueKind, ...QueueKind[]]
