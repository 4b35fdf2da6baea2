import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { MqttPublishTrace } from './service.ts'
import type { MqttMessageTrace } from './subscriptions/handler-queue.ts'

const list = { id: 'mqtt', title: 'MQTT' }
const system = { 'messaging.system': 'mqtt' }
const publish = { ...system, 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' }
const process = { ...system, 'messaging.operation.name': 'process' }
const messageOf = ({ topic, bytes }: MqttPublishTrace | MqttMessageTrace) => ({
  'messaging.destination.name': topic,
  'messaging.message.body.size': bytes,
})

export const work: readonly WorkKind[] = [
  workKind<MqttPublishTrace>({
    channel: 'mqtt.publish',
    role: 'publish',
    list,
    help: 'Messages that were published to the MQTT broker',
    // Topics contain device numbers, which are too many for names of spans and for labels.
    span: () => 'publish',
    title: ({ topic }) => topic,
    note: () => 'published',
    data: ({ topic, bytes, payload }) => ({ topic, bytes, payload }),
    attributes: (event) => ({ ...publish, ...messageOf(event) }),
    duration: { name: 'messaging.client.operation.duration', attributes: publish },
  }),
  workKind<MqttMessageTrace>({
    channel: 'mqtt.message',
    role: 'process',
    list,
    help: 'MQTT messages that were handled',
    span: ({ filter }) => `process ${filter}`,
    title: ({ topic }) => topic,
    note: () => 'received',
    data: ({ topic, filter, bytes, payload }) => ({ topic, filter, bytes, payload }),
    labels: { filter: { attribute: 'messaging.destination.template', of: ({ filter }) => filter } },
    attributes: (event) => ({ ...process, 'messaging.operation.type': 'process', ...messageOf(event) }),
    duration: { name: 'messaging.process.duration', attributes: process },
  }),
]
