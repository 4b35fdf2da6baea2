import { defineErrors } from '../../../kernel/index.ts'
import type { QueueRef } from './custom.ts'

export const { QueueUnavailableError, QueueNotConfiguredError, QueueConfigurationError } = defineErrors({
  // All with status 500: details about an application are not for its clients.
  QueueUnavailableError: (queue: string, backend: string, why: string, remedy: string) =>
    `the queue "${queue}" cannot be reached: ${backend} ${why}. ${remedy}`,
  QueueNotConfiguredError: (queue: string, kind: string) =>
    `the queue "${queue}" needs the configuration "${kind}". Call defineQueueConfiguration({ ${kind}: { … } }) at start-up, or give the server background: { queues: { config: { ${kind}: { … } } } }`,
  QueueConfigurationError: (why: string) => why,
})

export const { QueuePayloadError, QueueSchemaError, QueueHandlerError, QueuePageError } = defineErrors({
  QueuePayloadError: (queue: string, why: string) => `the payload for the queue "${queue}" ${why}`,
  QueueSchemaError: (queue: string, why: string) => `the schema of the queue "${queue}" cannot be used: ${why}`,
  QueueHandlerError: (queue: string, why: string) => `the queue "${queue}": ${why}`,
  QueuePageError: (path: string) =>
    `the page of the queues at ${path} would be open to everyone. Guard it: background: { queues: { ui: { middlewares: [staffOnly] } } }; NODE_ENV=development needs none`,
})

export const { QueueFullError, QueueIdleError, QueueDelayedError } = defineErrors({
  QueueFullError: (queue: string, size: number) =>
    `the queue "${queue}" holds ${size} messages, the maximum of memory.maxSize. Subscribe a handler that keeps up, or raise memory.maxSize`,
  QueueIdleError: (queue: string, size: number) =>
    `the queue "${queue}" will not be drained: ${size === 1 ? 'a message waits' : `${size} messages wait`} and no subscriber is running. Subscribe a handler; in a process that has a server with queues, let it listen with run: true, else call QueueService.run()`,
  QueueDelayedError: (queue: string, size: number) =>
    `the queue "${queue}" will not be drained: ${size === 1 ? 'a message is' : `${size} messages are`} delayed, and the test clock stands still. Advance it: await clock.advance('1 h')`,
})

export const { QueueMissingError, QueueBatchError } = defineErrors({
  QueueMissingError: (queue: string) =>
    `SQS has no queue "${queue}" for these credentials in this region. Create it, or set its address in sqs.queueUrls`,
  QueueBatchError: (queue: string, failed: number, all: number, why: string) =>
    `${failed} of ${all} messages for the queue "${queue}" were refused: ${why}. The others are published; \`ids\` of this error lists them`,
})

export const { QueueServerError, QueueExpiredError, QueueVersionError, QueueOperationError } = defineErrors({
  QueueServerError: (queue: string) =>
    `the queue "${queue}" has no place in this server: it has no plugin "queues", or has not booted. Give it background: { queues: { … } }, and await server.ready()`,
  QueueExpiredError: (queue: string) =>
    `the message of the queue "${queue}" was not handled within its expireIn, and is given up`,
  QueueVersionError: (queue: string, why: string) => `a message of the queue "${queue}" ${why}`,
  QueueOperationError: (why: string) => why,
})

/** NUL or half a surrogate pair, in what `JSON.stringify` has made: Postgres keeps neither, while JSON allows both. */
const unkept = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** Refuses at once what Postgres would refuse later: in a transaction, which would then fail, or in the outbox, after the commit. */
export function refuseUnkept({ name, kind, standsFor }: QueueRef, text: string): void {
  if ((standsFor?.kind ?? kind) === 'pgboss' && unkept.test(text))
    throw QueuePayloadError(name, 'has a character that Postgres cannot keep, such as NUL')
}

/** Why a payload is refused that could change the prototype of what it is merged into. */
export const dangerous = 'has the key __proto__ or constructor.prototype'
