// The names that `framework` has as well.
import type { MqttService } from './service.ts'

export type { MqttPatternTopic, MqttTopic, MqttTopicOptions } from './api.ts'
export { type MqttErrorHandler, type MqttFailure, setMqttGlobalErrorHandler } from './failures.ts'
export type { MqttPublishOptions, MqttQos, MqttSubscribeOptions, MqttWill } from './messages/message-options.ts'
export type { Mqtt } from './mqtt.ts'
export type {
  MqttConnectOptions,
  MqttOptions,
  MqttServiceOptions,
  MqttSource,
  MqttSubscriptionSource,
} from './options.ts'
export { MqttService } from './service.ts'
export { BaseMqtt, type BaseMqttClass } from './subscriptions/base-mqtt.ts'
export type { MqttHandle, MqttSubscription } from './subscriptions/declarations.ts'
export type { MqttDetails, MqttHandler, MqttPayload, MqttTopics } from './types.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The connection to the broker. */
    mqtt: MqttService
  }
}
