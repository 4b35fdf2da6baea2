import { CallSite } from '../../kernel/index.ts'
import { decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import type { MqttApi } from './api.ts'
import { MqttNotConnectedError } from './errors.ts'
import { type MqttPublishOptions, type MqttSubscribeOptions, subscribeOptions } from './messages/message-options.ts'
import { mqttClasses } from './subscriptions/base-mqtt.ts'
import { connectionFor, declarations } from './subscriptions/connections.ts'
import { declarationOf, handleOf, type MqttHandle } from './subscriptions/declarations.ts'
import { parseFilter } from './topics/filter.ts'
import { topicOf } from './topics/topic.ts'
import type { IsPattern, KnownName, MqttArguments, MqttHandler, MqttPayload } from './types.ts'

/** The messages of this process, through the connection of `MqttService.connect` or of the server. */
export interface Mqtt extends MqttApi {
  subscribe: MqttApi['subscribe'] &
    /** Subscribes a method of a class that extends `BaseMqtt`. */
    (<const Name extends string, const Options extends MqttSubscribeOptions = {}>(
      // Compared with the map here as well, because the compiler reports the last of several signatures.
      topic: Options extends { readonly schema: object } ? Name : KnownName<Name>,
      options?: Options,
    ) => MethodMark<MqttHandler<MqttArguments<IsPattern<Name>, MqttPayload<Name>, Options>>>)
}

function subscribe(
  topic: string,
  handler?: ((...args: never[]) => unknown) | MqttSubscribeOptions,
  options?: MqttSubscribeOptions,
): MqttHandle | MethodMark {
  if (typeof handler !== 'function') return subscribeMethod(topic, handler)
  const declared = declarationOf(topic, handler, options)
  return handleOf(declared, declarations.add(declared), () => declarations.remove(declared))
}

function subscribeMethod(topic: string, given: MqttSubscribeOptions | undefined): MethodMark {
  parseFilter(topic)
  const options = subscribeOptions.parse(given, 'mqtt.subscribe')
  const place = new CallSite()
  return decorator({
    name: 'mqtt.subscribe',
    method: (on) => mqttClasses.add(on, { topic, options }, place),
  })
}

const api = {
  subscribe,
  async publish(topic: string, message: never, options?: MqttPublishOptions) {
    const what = `publishing to "${topic}"`
    const connection = connectionFor(what)
    if (connection === undefined) throw MqttNotConnectedError(what)
    await connection.publish(topic, message, options)
  },
}

/**
 * Publishes messages and subscribes to topics, through the connection of `MqttService.connect` or of the server.
 *
 * Subscriptions may be declared before there is a connection; publishing needs one.
 *
 * @example
 * import { BaseMqtt, mqtt } from 'framework'
 *
 * mqtt.subscribe('doors/front', (door) => console.log(door), { qos: 1 })
 * mqtt.subscribe('sensors/+/temperature', (topic, degrees) => console.log(topic, degrees))
 *
 * export class Doors extends BaseMqtt {
 *   @mqtt.subscribe('doors/+', { qos: 1 })
 *   moved(topic: string, door: unknown) {
 *     this.logger.info({ topic, door }, 'a door has moved')
 *   }
 * }
 */
export const mqtt: Mqtt = { ...api, topic: topicOf(api as unknown as MqttApi) } as unknown as Mqtt
