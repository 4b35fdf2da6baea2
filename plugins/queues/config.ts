import { QueueConfigurationError } from './errors.ts'
import { type QueueConfig, type QueueConfigSettings, queueConfigOptions } from './options.ts'

/** The configuration, and whether it came from a server. */
let current: { readonly config: QueueConfigSettings; readonly ofServer: boolean } | undefined

/**
 * Configures the queues of this process: settings by kind of queue, once, at start-up.
 *
 * The server option `background.queues.config` does the same, until every server with queues has closed.
 *
 * @throws QueueConfigurationError the second time; OptionError for invalid settings.
 * @example
 * defineQueueConfiguration({
 *   bullmq: { connection: 'redis://127.0.0.1:6379', errorHandler: (error, { queue, id }) => console.error(queue, id, error) },
 * })
 */
export function defineQueueConfiguration(config: QueueConfig): void {
  configure(queueConfigOptions.parse(config, 'queues.config'), false)
}

/** The configuration of a server applies until the last server with queues has closed, because others may use them as well. */
export function configure(config: QueueConfigSettings, ofServer: boolean): void {
  if (current !== undefined) {
    const until = current.ofServer
      ? 'It stays in effect until every server with queues has closed'
      : 'QueueService.stop() clears it'
    throw QueueConfigurationError(
      `the queues of this process are already configured. Call defineQueueConfiguration once, or give one server background.queues.config. ${until}`,
    )
  }
  current = { config, ofServer }
}

const unconfigured = queueConfigOptions.parse({}, 'queues.config')

export function queueConfig(): QueueConfigSettings {
  return current?.config ?? unconfigured
}

/** Removes the configuration of servers, when no server uses it any more, or the one of a script. */
export function forgetConfiguration(ofScript?: QueueConfigSettings): void {
  if (current?.ofServer || current?.config === ofScript) current = undefined
}
