import { type AnyClass, decoratedMethods, type Logger } from '../../kernel/index.ts'
import { instanceLogger, makeInstance, type ServiceClassKind } from '../shared/service-class.ts'
import { declare } from './declarations.ts'
import { MqttClassError, MqttFileError } from './errors.ts'
import { declarationOf, handleOf } from './handle.ts'
import { mqttNotes } from './mqtt.ts'

/** Classes of which there is an instance. */
const made = new WeakSet<object>()

/**
 * What a class with `@mqtt.subscribe` methods extends. Its methods are subscribed as soon as there is an instance; of a class
 * that a file of subscriptions exports, and of one that is listed in `subscribe`, the service makes one without arguments.
 *
 * @example
 * import { BaseMqtt, mqtt } from 'framework'
 *
 * export class Doors extends BaseMqtt {
 *   @mqtt.subscribe('doors/front', { qos: 1 })
 *   moved(door: unknown) {
 *     this.logger.info({ door }, 'the front door has moved')
 *   }
 * }
 */
export abstract class BaseMqtt {
  /** With the name of the class. */
  readonly logger: Logger

  constructor() {
    this.logger = instanceLogger('mqtt', new.target)
    made.add(new.target)
    subscribeMethods(new.target, this)
  }
}

/** A class whose methods are handlers. */
export type BaseMqttClass = new () => BaseMqtt

export const mqttClasses: ServiceClassKind<BaseMqtt> = {
  base: BaseMqtt,
  notes: mqttNotes,
  decorator: '@mqtt.subscribe',
  option: 'mqtt.subscribe',
  classError: MqttClassError,
  fileError: MqttFileError,
}

function subscribeMethods(cls: AnyClass, instance: object): void {
  for (const method of decoratedMethods(cls)) {
    for (const { topic, options } of mqttNotes.of(method)) {
      // Looked up for each message: fields of the class are not there yet, and one of them may be the method.
      const handler = (...args: readonly unknown[]) =>
        (instance as Record<PropertyKey, (...all: readonly unknown[]) => unknown>)[method.name]!(...args)
      const declared = declarationOf(topic, handler as (...args: never[]) => unknown, options)
      handleOf(declared, declare(declared), async () => {})
    }
  }
}

/**
 * Makes an instance, unless there is one.
 *
 * @throws MqttClassError
 */
export function instantiate(cls: BaseMqttClass, logger: Logger): void {
  if (!made.has(cls)) makeInstance(mqttClasses, cls, logger)
}
