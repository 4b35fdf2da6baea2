import { QueueConfigurationError } from './errors.ts'
import { type QueueConfig, type QueueConfigSettings, queueConfigOptions } from './options.ts'

/** The configuration, and whether a server has brought it. */
let current: { readonly config: QueueConfigSettings; readonly ofServer: boolean } | undefined

/**
 * Says where the queues of this process are: settings by kind of queue, once, at start-up.
 *
 * The server option `background.queues.config` is the same, until every server with queues has closed.
 *
 * @throws QueueConfigurationError the second time; OptionError for settings that cannot be meant.
 * @example
 * defineQueueConfiguration({
 *   bullmq: { connection: 'redis://127.0.0.1:6379', errorHandler: (error, { queue, id }) => console.error(queue, id, error) },
 * })
 */
export function defineQueueConfiguration(config: QueueConfig): void {
  configure(queueConfigOptions.parse(config, 'queues.config'), false)
}

/** The same; it holds until the last server with queues has closed, for another one may use them as well. */
export function configureForServers(config: QueueConfigSettings): void {
  configure(config, true)
}

function configure(config: QueueConfigSettings, ofServer: boolean): void {
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

/** Lets go of a configuration; of another one than the current nothing happens. */
export function forgetConfiguration(config: QueueConfigSettings): void {
  if (current?.config === config) current = undefined
}

/** No one is left who uses what a server has brought. */
export function forgetConfigurationOfServers(): void {
  if (current?.ofServer) current = undefined
}
