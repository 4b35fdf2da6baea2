import { QueueConfigurationError } from '../shared/engines/errors.ts'
import { type QueueConfig, type QueueConfigSettings, queueConfigOptions } from '../shared/engines/options.ts'

/** The configuration of this process: that of scripts, and of every server without one of its own. */
let ofProcess: QueueConfigSettings | undefined
/** How many servers have one of their own. */
let ofServers = 0

/**
 * Configures the queues of this process: settings by kind of queue, once, at start-up.
 *
 * The server option `background.queues.config` configures the queues of that server alone.
 *
 * @throws QueueConfigurationError the second time; OptionError for invalid settings.
 * @example
 * defineQueueConfiguration({
 *   bullmq: { connection: 'redis://127.0.0.1:6379', errorHandler: (error, { queue, id }) => console.error(queue, id, error) },
 * })
 */
export function defineQueueConfiguration(config: QueueConfig): void {
  const read = queueConfigOptions.parse(config, 'queues.config')
  refuseSecond(ofProcess !== undefined || ofServers > 0)
  ofProcess = read
}

/** Checks that a server may have a configuration of its own; the result ends this. */
export function configureServer(): { forget(): void } {
  refuseSecond(ofProcess !== undefined)
  ofServers++
  return { forget: () => void ofServers-- }
}

function refuseSecond(isConfigured: boolean): void {
  if (!isConfigured) return
  const until = ofProcess === undefined ? 'until that server has closed' : 'until QueueService.stop()'
  throw QueueConfigurationError(
    `the queues are already configured, ${until}. Call defineQueueConfiguration once, or give each server background.queues.config`,
  )
}

/** Read when it is first needed, as it may come from the environment. */
let unconfigured: QueueConfigSettings | undefined

export function processConfig(): QueueConfigSettings {
  if (ofProcess !== undefined) return ofProcess
  unconfigured ??= queueConfigOptions.parse({}, 'queues.config')
  return unconfigured
}

export function forgetProcessConfig(): void {
  ofProcess = undefined
}
