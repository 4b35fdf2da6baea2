import { QueueConfigurationError } from './errors.ts'
import { checkConfig, type QueueConfig } from './options.ts'

let current: QueueConfig | undefined

/**
 * Says where the queues of this process are: settings by kind of queue, once, at start-up.
 *
 * The server option `background.queues.config` is the same for the life of a server.
 *
 * @throws QueueConfigurationError the second time; OptionError for settings that cannot be meant.
 * @example
 * defineQueueConfiguration({
 *   bullmq: { connection: 'redis://127.0.0.1:6379', errorHandler: (error, { queue, id }) => console.error(queue, id, error) },
 * })
 */
export function defineQueueConfiguration(config: QueueConfig): void {
  checkConfig(config)
  if (current !== undefined) {
    throw QueueConfigurationError(
      'the queues of this process are configured already. Call defineQueueConfiguration once, or give one server background.queues.config; QueueService.stop() forgets it',
    )
  }
  current = config
}

export function queueConfig(): QueueConfig | undefined {
  return current
}

/** Lets go of a configuration; of another one than the current nothing happens. */
export function forgetConfiguration(config: QueueConfig | undefined): void {
  if (current === config) current = undefined
}
