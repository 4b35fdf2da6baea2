import { option } from '../../shared/options/index.ts'
import type { MqttApi, MqttTopicOptions } from '../api.ts'
import { type MqttPublishOptions, type MqttSubscribeOptions, schemaOption } from '../messages/message-options.ts'
import { messageCheck } from '../messages/payload.ts'
import type { MqttHandle } from '../subscriptions/declarations.ts'
import { checkTopic, parseFilter } from './filter.ts'

/** The two methods that a topic needs, without their types. */
interface Halves {
  publish(topic: string, message: never, options?: MqttPublishOptions): Promise<void>
  subscribe(topic: string, handler: never, options?: MqttSubscribeOptions): MqttHandle
}

const topicOptions = option.shape({ schema: schemaOption })

/** Makes the function `topic(name)`. */
export function topicOf(api: Pick<MqttApi, 'publish' | 'subscribe'>): MqttApi['topic'] {
  const { publish, subscribe } = api as unknown as Halves
  return function topic(name: string, options?: MqttTopicOptions) {
    const { schema } = topicOptions.parse(options, 'mqtt.topic')
    const { text } = parseFilter(name)
    const check = schema === undefined ? undefined : messageCheck(schema)
    return {
      name: text,
      async publish(message: never, publishOptions?: MqttPublishOptions) {
        checkTopic(name)
        // Bytes are not checked.
        const isChecked = check !== undefined && !ArrayBuffer.isView(message)
        await publish.call(api, name, isChecked ? ((await check(name, message)) as never) : message, publishOptions)
      },
      subscribe: (handler: never, subscribeOptions: MqttSubscribeOptions = {}) =>
        subscribe.call(api, name, handler, { ...subscribeOptions, ...(schema !== undefined && { schema }) }),
    }
  } as MqttApi['topic']
}
