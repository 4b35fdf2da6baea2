// The names that `framework` has as well.
import type { QueueService } from './service.ts'

export type {
  MessageFailure,
  MessageState,
  QueueCounts,
  QueueOperations,
  StoredMessage,
} from '../shared/engines/contract.ts'
export type { CustomDelivery, CustomHandler, GenericPubSub } from '../shared/engines/custom.ts'
export type { DeadMessage } from '../shared/engines/memory.ts'
export type {
  BullmqConfig,
  MemoryQueueConfig,
  PgbossConfig,
  QueueConfig,
  QueueEngines,
  QueueErrorHandler,
  QueueFailure,
  QueueSettings,
  QueuesOptions,
  QueueUiOptions,
  SqsConfig,
} from '../shared/engines/options.ts'
export type {
  Backoff,
  BullmqPublishOptions,
  BullmqTerms,
  KeptJobs,
  MemoryPublishOptions,
  MessageId,
  PgbossPublishOptions,
  PgbossTerms,
  PublishOptions,
  Repeat,
  RepeatEvery,
  RepeatPattern,
  SqsPublishOptions,
  SqsTerms,
} from '../shared/engines/publish-options.ts'
export type { QueueBatchHandler, QueueHandler, QueueMessage } from './batch.ts'
export { defineQueueConfiguration } from './config.ts'
export type { QueueMethod } from './decorator.ts'
export type { MemoryQueue, QueueFactory, QueueOptions } from './factories.ts'
export { bullmqQueue, createQueue, memoryQueue, pgbossQueue, queue, sqsQueue } from './factories.ts'
export type { QueueChange, QueueEntry, QueueOperator, QueueSelection } from './operations.ts'
export type { BatchOptions, Queue, QueueHandle } from './queue.ts'
export { type QueueReport, QueueService, type QueueSubscriber } from './service.ts'
export type { SubscribeBatchOptions, SubscribeOptions, UpgradePayload } from './subscription.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Counts and inspects the queues of this process, with the plugin `queues`. */
    queues: QueueService
  }
}
