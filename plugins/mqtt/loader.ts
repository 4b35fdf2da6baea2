import { importFiles, type Logger } from '../../kernel/index.ts'
import { type BaseMqttClass, instantiate, isForgotten, isMqttClass } from './base-mqtt.ts'
import { MqttClassError, MqttFileError } from './errors.ts'
import type { Sources } from './options.ts'

const nameOf = (value: unknown) => (value as { name?: string }).name || 'a function'

/**
 * Imports the files of globs, and makes the classes; other subscriptions declare themselves while their file is imported.
 *
 * @throws (as a rejection) MqttFileError, MqttClassError.
 */
export async function loadSubscriptions({ sources, isDefault }: Sources, log: Logger): Promise<void> {
  const classes = new Set<BaseMqttClass>()
  const globs: string[] = []
  for (const source of sources) {
    if (typeof source === 'string') globs.push(source)
    else if (isMqttClass(source)) classes.add(source)
    else {
      const takes = 'subscribe takes classes that extend BaseMqtt and have @mqtt.subscribe methods, and globs'
      throw MqttClassError(nameOf(source), takes)
    }
  }
  await importFiles(globs, {
    unmatched(pattern, folder) {
      if (isDefault) return
      log.warn({ pattern, folder }, `mqtt.subscribe: ${JSON.stringify(pattern)} matches no file in ${folder}`)
    },
    failure: MqttFileError,
    take(exported) {
      for (const value of exported) {
        if (isMqttClass(value)) classes.add(value)
        else if (isForgotten(value)) {
          throw MqttClassError(nameOf(value), 'it has @mqtt.subscribe methods and does not extend BaseMqtt')
        }
      }
    },
  })
  for (const cls of classes) instantiate(cls, log)
}
