import type { Logger } from '../../../kernel/index.ts'
import type { AnyClass } from '../../shared/decorators/decorator.ts'
import { type ImportedMethod, ServiceClasses } from '../../shared/work/service-classes.ts'
import { MqttClassError, MqttFileError } from '../errors.ts'
import type { MqttSubscribeOptions } from '../messages/message-options.ts'
import { type Declared, declarationOf, declarations, handleOf, withdraw } from './declarations.ts'

/** What `@mqtt.subscribe` notes about a method. */
export interface MqttNote {
  readonly topic: string
  readonly options: MqttSubscribeOptions
}

export const mqttClasses = new ServiceClasses<BaseMqtt, MqttNote>({
  field: 'mqtt',
  base: () => BaseMqtt,
  decorator: '@mqtt.subscribe',
  option: 'mqtt.subscribe',
  takes: 'it takes classes that extend BaseMqtt and have @mqtt.subscribe methods, and globs',
  plural: 'the MQTT subscriptions',
  shown: ({ note, label, place }) => `the MQTT subscription "${note.topic}" of ${label} (${place})`,
  undone: ['is not handled', 'are not handled'],
  unlisted:
    'no file of the option subscribe exports its class, the option does not list it, and the application has not created an instance',
  remedy: 'Create one (new TheClass()), or list the class: subscribe: [TheClass]',
  classError: MqttClassError,
  fileError: MqttFileError,
})

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
    const cls = new.target
    this.logger = mqttClasses.created(this, cls)
    mqttClasses.endStandIns(cls)
    // An instance that the application creates replaces the service's own.
    withdrawMade(cls)
    const instance = this as unknown as Record<PropertyKey, (...all: readonly unknown[]) => unknown>
    // Looked up for each message: the fields of the class do not exist yet, and one of them may be the method.
    const all = mqttClasses
      .methodsOf(cls)
      .map(({ name, note }) => declareMethod(note, (...args) => instance[name]!(...args)))
    made.set(cls, beingMade === cls ? all : [])
  }
}

/** A class whose methods are handlers. */
export type BaseMqttClass = new () => BaseMqtt

function withdrawMade(cls: AnyClass): void {
  for (const declared of made.get(cls) ?? []) void withdraw(declared).catch(() => {})
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
    mqttClasses.instanceOf(cls, logger)
  } catch (error) {
    // The constructor may have failed after the one of the base class had subscribed its methods.
    withdrawMade(cls)
    made.delete(cls)
    throw error
  } finally {
    beingMade = undefined
  }
}

/** Subscribes a method whose class is not known, unless it is subscribed already; returns the function that ends this. */
export function subscribeClassless(method: ImportedMethod<MqttNote>, logger: Logger): (() => void) | undefined {
  if (mqttClasses.hasStandIn(method.note)) return undefined
  const declared = declareMethod(method.note, mqttClasses.withoutInstance(method, method.label, logger))
  return () => void withdraw(declared).catch(() => {})
}
