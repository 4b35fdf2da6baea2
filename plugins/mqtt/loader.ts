import type { Logger } from '../../kernel/index.ts'
import { loadServiceClasses } from '../shared/service-class.ts'
import { instantiate, mqttClasses } from './base-mqtt.ts'
import type { Sources } from './options.ts'

const takes = 'subscribe takes classes that extend BaseMqtt and have @mqtt.subscribe methods, and globs'

/**
 * Imports the files of globs, and makes the classes; other subscriptions declare themselves while their file is imported.
 *
 * @throws (as a rejection) MqttFileError, MqttClassError.
 */
export async function loadSubscriptions({ sources, isDefault }: Sources, log: Logger): Promise<void> {
  for (const cls of await loadServiceClasses(mqttClasses, { sources, isDefault, takes }, log)) instantiate(cls, log)
}
