import type { Logger } from '../../../kernel/index.ts'
import { type AnyClass, decoratedMethods } from '../../shared/decorators/decorator.ts'
import { applicationLogger } from '../../shared/logging/logger.ts'
import { type ImportedMethod, instanceStandIn } from '../../shared/work/imported-methods.ts'
import { instanceLogger, makeInstance, type ServiceClassKind } from '../../shared/work/service-class.ts'
import { MqttClassError, MqttFileError } from '../errors.ts'
import { importedSubscriptions, type MqttNote, mqttNotes, shownSubscription } from '../mqtt.ts'
import { type Declared, declarations, withdraw } from './declarations.ts'
import { declarationOf, handleOf } from './handle.ts'

/** Classes that have an instance, with its declarations if the service created it. */
const made = new WeakMap<object, readonly Declared[]>()
/** The class whose instance the service is creating. */
let beingMade: object | undefined

/**
 * The base class for `@mqtt.subscribe` methods. They are subscribed as soon as there is an instance. For a class
 * that a file of subscriptions exports or that is listed in `subscribe`, the service creates one without arguments.
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
  /** The logger of the server or the service, with the name of the class. */
  readonly logger: Logger

  constructor() {
    this.logger = instanceLogger('mqtt', new.target, this)
    const cls = new.target
    importedSubscriptions.resolve(cls)
    // An instance that the application creates replaces the service's own.
    for (const declared of made.get(cls) ?? []) void withdraw(declared).catch(() => {})
    const all = subscribeMethods(cls, this)
    made.set(cls, beingMade === cls ? all : [])
  }
}

/** A class whose methods are handlers. */
export type BaseMqttClass = new () => BaseMqtt

export const mqttClasses: ServiceClassKind<BaseMqtt, MqttNote> = {
  base: BaseMqtt,
  notes: mqttNotes,
  imported: importedSubscriptions,
  plural: 'the MQTT subscriptions',
  shown: shownSubscription,
  undone: ['is not handled', 'are not handled'],
  unlisted:
    'no file of the option subscribe exports its class, the option does not list it, and the application has not created an instance',
  decorator: '@mqtt.subscribe',
  option: 'mqtt.subscribe',
  classError: MqttClassError,
  fileError: MqttFileError,
}

function subscribeMethods(cls: AnyClass, instance: object): Declared[] {
  return decoratedMethods(cls).flatMap((method) =>
    mqttNotes.of(method).map((note) =>
      // Looked up for each message: the fields of the class do not exist yet, and one of them may be the method.
      declareMethod(note, (...args) =>
        (instance as Record<PropertyKey, (...all: readonly unknown[]) => unknown>)[method.name]!(...args),
      ),
    ),
  )
}

function declareMethod({ topic, options }: MqttNote, handler: (...args: readonly unknown[]) => unknown): Declared {
  const declared = declarationOf(topic, handler, options)
  handleOf(declared, declarations.add(declared), async () => {})
  return declared
}

export const isMade = (cls: AnyClass): boolean => made.has(cls)

/**
 * Creates an instance of the class, unless one exists.
 *
 * @throws MqttClassError
 */
export function instantiate(cls: BaseMqttClass, logger: Logger): void {
  if (made.has(cls)) return
  beingMade = cls
  try {
    makeInstance(mqttClasses, cls, logger)
  } catch (error) {
    // The constructor may have failed after the one of the base class had subscribed its methods.
    for (const declared of made.get(cls) ?? []) void withdraw(declared).catch(() => {})
    made.delete(cls)
    throw error
  } finally {
    beingMade = undefined
  }
}

/** Subscribes a method whose class is not known: the only member of its instance is the logger. */
export function subscribeClassless({ note, label, value }: ImportedMethod<MqttNote>, logger: Logger): Declared {
  const instance = instanceStandIn(applicationLogger(logger).child({ mqtt: label }), (member) =>
    MqttClassError(
      label,
      `it uses this.${member}, but its class has no instance. Create one (new TheClass()), or list the class: subscribe: [TheClass]`,
    ),
  )
  return declareMethod(note, (...args) => Reflect.apply(value, instance, args as never))
}
