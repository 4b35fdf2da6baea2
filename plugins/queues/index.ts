export { queues } from './plugin.ts'
export * from './public.ts'
export type { QueuePublishTrace } from './queue.ts'
export type { QueueAttemptTrace } from './subscription.ts'
