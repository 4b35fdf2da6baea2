// The names that `framework` has as well.
import type { QueueService } from './service.ts'

export { defineQueueConfiguration } from './config.ts'
export type { QueueMethod } from './decorator.ts'
export type { QueueCounts } from './drivers/contract.ts'
export type { CustomDelivery, CustomHandler, GenericPubSub } from './drivers/custom.ts'
export type { DeadMessage } from './drivers/memory.ts'
export {
  type BullmqQueue,
  bullmqQueue,
  createQueue,
  type MemoryQueue,
  memoryQueue,
  pgbossQueue,
  type QueueOptions,
  sqsQueue,
} from './factories.ts'
export type {
  BullmqConfig,
  MemoryQueueConfig,
  PgbossConfig,
  QueueConfig,
  QueueErrorHandler,
  QueueFailure,
  QueueSettings,
  QueuesOptions,
  SqsConfig,
} from './options.ts'
export type {
  Backoff,
  BullmqPublishOptions,
  KeptJobs,
  MemoryPublishOptions,
  PgbossPublishOptions,
  SqsPublishOptions,
} from './publish-options.ts'
export type { BatchOptions, Queue, QueueHandle } from './queue.ts'
export { type QueueReport, QueueService, type QueueSubscriber } from './service.ts'
export type { QueueHandler, QueueMessage, SubscribeOptions } from './subscription.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Counts and inspects the queues of this process, with the plugin `queues`. */
    queues: QueueService
  }
}
