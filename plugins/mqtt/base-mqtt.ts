import { type AnyClass, decoratedMethods, type Logger, lineLogger } from '../../kernel/index.ts'
import { declare } from './declarations.ts'
import { MqttClassError } from './errors.ts'
import { declarationOf, handleOf } from './handle.ts'
import { mqttNotes } from './mqtt.ts'

/** The logger of the service that is making an instance; its constructor may log already. */
let loggerNow: Logger | undefined

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
    this.logger = (loggerNow ?? lineLogger()).child({ mqtt: new.target.name })
    made.add(new.target)
    subscribeMethods(new.target, this)
  }
}

/** A class whose methods are handlers. */
export type BaseMqttClass = new () => BaseMqtt

/** Whether a value is a class with handlers: one without, the base of others, is none. */
export function isMqttClass(value: unknown): value is BaseMqttClass {
  return typeof value === 'function' && value.prototype instanceof BaseMqtt && hasHandlers(value as BaseMqttClass)
}

/** Whether a class has `@mqtt.subscribe` methods of which nothing comes. */
export function isForgotten(value: unknown): value is AnyClass {
  const isClass = typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
  return isClass && !(value.prototype instanceof BaseMqtt) && hasHandlers(value as unknown as AnyClass)
}

const hasHandlers = (cls: AnyClass) => decoratedMethods(cls).some((method) => mqttNotes.of(method).length > 0)

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
  if (made.has(cls)) return
  if (cls.length > 0)
    throw MqttClassError(cls.name, 'its constructor takes arguments; a class of subscriptions is made without any')
  loggerNow = logger
  try {
    new cls()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw Object.assign(MqttClassError(cls.name, `it cannot be made: ${why}`), { cause: error })
  } finally {
    loggerNow = undefined
  }
}
