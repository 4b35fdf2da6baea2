import type { Logger } from '../../../kernel/index.ts'
import type { ImportedMethod } from '../../shared/work/imported-methods.ts'
import { loadServiceClasses } from '../../shared/work/service-class.ts'
import { importedSubscriptions, type MqttNote, shownSubscription } from '../mqtt.ts'
import type { Sources } from '../options.ts'
import { BaseMqtt, type BaseMqttClass, instantiate, isMade, mqttClasses, subscribeClassless } from './base-mqtt.ts'
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
  for (const cls of await loadServiceClasses(mqttClasses, { sources, isDefault, takes }, log)) {
    importedSubscriptions.take(cls)
    instantiate(cls, log)
  }
  for (const cls of importedSubscriptions.classes) if (isMade(cls)) importedSubscriptions.take(cls)
  if (isDefault) makeImported(log)
  importedSubscriptions.report(log, (method) => `${shownSubscription(method)} is not handled: ${whyLeft(method)}`)
}

const whyLeft = ({ owner }: ImportedMethod<MqttNote>) =>
  owner === undefined || owner.prototype instanceof BaseMqtt
    ? 'no file of the option subscribe exports its class, the option does not list it, and the application has not created an instance'
    : 'its class does not extend BaseMqtt'

/** Instantiates the classes that the application has imported itself. */
function makeImported(log: Logger): void {
  for (const cls of importedSubscriptions.outerClasses) {
    if (!(cls.prototype instanceof BaseMqtt)) continue
    importedSubscriptions.take(cls)
    try {
      instantiate(cls as BaseMqttClass, log)
    } catch (error) {
      // This class is not listed, so its failure does not stop the others from working.
      log.error({ err: error }, `the MQTT subscriptions of ${cls.name} are not handled: ${(error as Error).message}`)
    }
  }
  for (const method of importedSubscriptions.classless(log, (one) => `${shownSubscription(one)} is not handled`)) {
    if (importedSubscriptions.hasStandIn(method.note)) continue
    const declared = subscribeClassless(method, log)
    importedSubscriptions.standIn(method.note, () => void withdraw(declared).catch(() => {}))
  }
}
