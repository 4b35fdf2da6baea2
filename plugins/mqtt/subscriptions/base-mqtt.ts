import type { Logger } from '../../../kernel/index.ts'
import type { AnyClass } from '../../shared/decorators/decorator.ts'
import { runningServer } from '../../shared/values/running-server.ts'
import { type ImportedMethod, ServiceClasses, type ServiceMount } from '../../shared/work/service-classes.ts'
import { MqttClassError, MqttFileError } from '../errors.ts'
import type { MqttSubscribeOptions } from '../messages/message-options.ts'
import { type Connection, declarations } from './connections.ts'
import { type Declared, declarationOf } from './declarations.ts'

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

/** The services that have classes. */
const services = new Set<OwnClasses>()

/**
 * The base class for `@mqtt.subscribe` methods. They are subscribed as soon as there is an instance. For a class
 * that a file of subscriptions exports or that is listed in `subscribe`, each server creates one of its own, without arguments. An instance
 * that the application creates serves all servers, and one that a hook of a plugin creates serves the server of that hook.
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
    if (mqttClasses.isCreating(cls)) return
    const owner = runningServer()
    for (const service of services) if (owner === undefined || service.server === owner) service.leave(cls)
    for (const declared of declaredIn(this, cls))
      declarations.add(declared, owner).catch((error: unknown) => declarations.runners[0]?.report(error))
  }
}

/** A class whose methods are handlers. */
export type BaseMqttClass = new () => BaseMqtt

const declaredBy = ({ topic, options }: MqttNote, handler: (...args: readonly unknown[]) => unknown): Declared =>
  declarationOf(topic, handler, options)

function declaredIn(instance: BaseMqtt, cls: AnyClass): readonly Declared[] {
  const methods = instance as unknown as Record<PropertyKey, (...all: readonly unknown[]) => unknown>
  // Looked up for each message: the fields of the class may not exist yet, and one of them may be the method.
  return mqttClasses.methodsOf(cls).map(({ name, note }) => declaredBy(note, (...args) => methods[name]!(...args)))
}

/** The classes of one service, each with the instance that it has created, and methods without a class. */
export class OwnClasses implements ServiceMount<BaseMqtt, MqttNote> {
  readonly #connection: Connection
  /** The subscriptions of the service, to which those of the classes are added. */
  readonly #own: Set<Declared>
  /** By class, or by the note of a method without one. */
  readonly #all = new Map<object, readonly Declared[]>()
  #log!: Logger

  constructor(connection: Connection, own: Set<Declared>) {
    this.#connection = connection
    this.#own = own
  }

  get server(): object | undefined {
    return this.#connection.server
  }

  open(log: Logger): void {
    this.#log = log
    services.add(this)
  }

  close(): void {
    services.delete(this)
  }

  isTaken(cls: AnyClass): boolean {
    return mqttClasses.createdFor(this.server, cls) !== undefined
  }

  /**
   * Creates an instance of the class, unless there is one.
   *
   * @throws MqttClassError
   */
  take(cls: BaseMqttClass): void {
    if (this.isTaken(cls)) this.leave(cls)
    else if (!this.#all.has(cls)) {
      const instance = mqttClasses.instanceOf(cls, this.#log, this.server)
      this.leave(cls)
      this.#add(cls, declaredIn(instance, cls))
    }
  }

  takeAlone(method: ImportedMethod<MqttNote>): void {
    const { note, label } = method
    if (!this.#all.has(note)) this.#add(note, [declaredBy(note, mqttClasses.withoutInstance(method, label, this.#log))])
  }

  #add(key: object, all: readonly Declared[]): void {
    this.#all.set(key, all)
    for (const declared of all) this.#own.add(declared)
  }

  /** Ends the subscriptions of a class and of its methods: an instance has them from now on. */
  leave(cls: AnyClass): void {
    for (const key of [cls, ...mqttClasses.notesOf(cls)]) {
      for (const declared of this.#all.get(key) ?? []) {
        this.#own.delete(declared)
        void this.#connection.drop(declared)
      }
      this.#all.delete(key)
    }
  }
}
