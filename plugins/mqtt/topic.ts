import { checkOptions } from '../../kernel/index.ts'
import type { MqttApi, MqttTopicOptions } from './api.ts'
import type { MqttHandle } from './handle.ts'
import { checkSchema, type MqttPublishOptions, type MqttSubscribeOptions } from './message-options.ts'
import { checkTopic, parseFilter } from './names.ts'
import { messageCheck } from './schema.ts'

/** The two halves that a topic needs, without their types. */
interface Halves {
  publish(topic: string, message: never, options?: MqttPublishOptions): Promise<void>
  subscribe(topic: string, handler: never, options?: MqttSubscribeOptions): MqttHandle
}

/** Makes what `topic(name)` is. */
export function topicOf(api: Pick<MqttApi, 'publish' | 'subscribe'>): MqttApi['topic'] {
  const { publish, subscribe } = api as unknown as Halves
  return function topic(name: string, options: MqttTopicOptions = {}) {
    checkOptions('mqtt.topic', options, ['schema'])
    checkSchema('mqtt.topic.schema', options.schema)
    const { schema } = options
    const { text } = parseFilter(name)
    const check = schema === undefined ? undefined : messageCheck(schema)
    return {
      name: text,
      async publish(message: never, publishOptions?: MqttPublishOptions) {
        checkTopic(name)
        // Bytes are nobody's to read.
        const isChecked = check !== undefined && !ArrayBuffer.isView(message)
        await publish.call(api, name, isChecked ? ((await check(name, message)) as never) : message, publishOptions)
      },
      subscribe: (handler: never, subscribeOptions: MqttSubscribeOptions = {}) =>
        subscribe.call(api, name, handler, { ...subscribeOptions, ...(schema !== undefined && { schema }) }),
    }
  } as MqttApi['topic']
}
