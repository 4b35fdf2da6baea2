import type { Logger } from '../../../kernel/index.ts'
import { loadServiceClasses } from '../../shared/work/service-class.ts'
import { importedSubscriptions } from '../mqtt.ts'
import type { Sources } from '../options.ts'
import { type BaseMqttClass, instantiate, isMade, mqttClasses, subscribeClassless } from './base-mqtt.ts'
import { withdraw } from './declarations.ts'

const takes = 'it takes classes that extend BaseMqtt and have @mqtt.subscribe methods, and globs'

/**
 * Imports the files of globs and instantiates the classes; other subscriptions declare themselves while their file is imported.
 * Without a list, every class that this process has imported is also instantiated; with a list, omitted classes are reported.
 *
 * @throws (as a rejection) MqttFileError, MqttClassError.
 */
export async function loadSubscriptions({ isOn, sources, isDefault }: Sources, log: Logger): Promise<void> {
  if (!isOn) return
  const mount = {
    take: (cls: BaseMqttClass) => instantiate(cls, log),
    isTaken: isMade,
    takeAlone(method: Parameters<typeof subscribeClassless>[0]) {
      if (importedSubscriptions.hasStandIn(method.note)) return undefined
      const declared = subscribeClassless(method, log)
      return () => void withdraw(declared).catch(() => {})
    },
  }
  await loadServiceClasses(mqttClasses, { sources, isDefault, takes }, mount, log)
}
