import {
  BaseMqtt,
  type MqttDetails,
  type MqttHandle,
  type MqttPayload,
  MqttService,
  mqtt,
  Server,
  setMqttGlobalErrorHandler,
  type Thrown,
} from 'framework'
import { type MqttOptions, mqtt as mqttPlugin } from 'framework/plugins/mqtt'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

declare module 'framework' {
  interface MqttTopics {
    'typed/door': { open: boolean }
    'typed/sensors/+/temperature': number
    'typed/sensors/+/name': string
  }
}

type _exact = Expect<Equal<MqttPayload<'typed/door'>, { open: boolean }>>
type _byPattern = Expect<Equal<MqttPayload<'typed/sensors/attic/temperature'>, number>>
type _pattern = Expect<Equal<MqttPayload<'typed/sensors/+/temperature'>, number>>
type _all = Expect<Equal<MqttPayload<'typed/sensors/#'>, string | number>>
type _shared = Expect<Equal<MqttPayload<'$share/g/typed/door'>, { open: boolean }>>
type _unknown = Expect<Equal<MqttPayload<'elsewhere'>, unknown>>
type _text = Expect<Equal<MqttPayload<string>, unknown>>

const handle = mqtt.subscribe('typed/door', (door) => {
  type _door = Expect<Equal<typeof door, { open: boolean }>>
  return door
})
type _handle = Expect<Equal<typeof handle, MqttHandle>>
type _unsubscribe = Expect<Equal<ReturnType<typeof handle.unsubscribe>, Promise<void>>>
mqtt.subscribe('typed/sensors/+/temperature', async (topic, degrees) => {
  type _topic = Expect<Equal<typeof topic, string>>
  type _degrees = Expect<Equal<typeof degrees, number>>
  return [topic, degrees]
})
mqtt.subscribe('typed/door', (bytes) => void bytes.byteLength, { raw: true })
mqtt.subscribe(
  'typed/door',
  (door, details) => {
    type _details = Expect<Equal<typeof details, MqttDetails>>
    return [door.open, details]
  },
  { details: true, qos: 1 },
)
mqtt.subscribe('typed/sensors/+/name', (_topic, message, { userProperties }) => [message, userProperties], {
  details: true,
})
mqtt.subscribe(
  'checked',
  (message) => {
    type _message = Expect<Equal<typeof message, { n: number }>>
    return message
  },
  { schema: z.object({ n: z.number() }) },
)
// Where messages have no declared type, the handler may choose one.
mqtt.topic<{ id: number }>('elsewhere').subscribe((message) => message.id)
const anywhere: string = 'elsewhere/#'
mqtt.subscribe(anywhere, (message: { id: number }) => message.id)
// @ts-expect-error a door is not a number
mqtt.subscribe('typed/door', (message: number) => message)
// @ts-expect-error there is no fourth quality
mqtt.subscribe('typed/door', () => {}, { qos: 3 })
// @ts-expect-error a misspelt option
mqtt.subscribe('typed/door', () => {}, { rwa: true })

mqtt.publish('typed/door', { open: true }, { qos: 1, retain: true, userProperties: { a: ['b'] } })
mqtt.publish('typed/sensors/attic/temperature', 20)
mqtt.publish('typed/door', Uint8Array.of(1))
mqtt.publish('elsewhere' as string, { whatever: 1 })
// @ts-expect-error no such topic
mqtt.publish('typed/dor', { open: true })
// @ts-expect-error no such topic
mqtt.subscribe('typed/dor', () => {})
// @ts-expect-error a door is not text
mqtt.publish('typed/door', 'open')
// @ts-expect-error a temperature is a number
mqtt.publish('typed/sensors/attic/temperature', '20')
// @ts-expect-error publishing to a pattern is impossible
mqtt.publish('typed/sensors/+/temperature', 20)

const door = mqtt.topic('typed/door')
door.subscribe(({ open }) => open)
door.publish({ open: false })
// @ts-expect-error a door is not text
door.publish('open')
const given = mqtt.topic<{ id: number }>('somewhere')
given.publish({ id: 1 })
given.subscribe((message) => message.id.toFixed())
const text = mqtt.topic<string>('somewhere')
text.subscribe((message) => message.toUpperCase())
const pattern = mqtt.topic<{ id: number }>('somewhere/+')
pattern.subscribe((topic, message) => `${topic.toUpperCase()} ${message.id.toFixed()}`)
// @ts-expect-error publishing to a pattern is impossible
pattern.publish({ id: 1 })
const sensors = mqtt.topic('typed/sensors/+/temperature')
sensors.subscribe((_topic, degrees) => degrees.toFixed())
const checked = mqtt.topic('checked', { schema: z.object({ n: z.number().default(1) }) })
checked.publish({})
checked.subscribe(({ n }) => n.toFixed())

export class Doors extends BaseMqtt {
  @mqtt.subscribe('typed/door', { qos: 1 })
  moved(door: { open: boolean }) {
    this.logger.info(String(door.open))
  }
  @mqtt.subscribe('typed/sensors/+/temperature')
  async warmer(topic: string, degrees: number) {
    return [topic, degrees]
  }
}

setMqttGlobalErrorHandler((error, { subscription, topic, payload }) => {
  type _error = Expect<Equal<typeof error, Thrown>>
  return [error, subscription, topic?.length, payload?.byteLength]
})

const options: MqttOptions = {
  connect: { url: 'wss://broker', clean: false, clientId: 'me' },
  subscribe: ['a/*.ts', Doors],
}
new Server({ background: { mqtt: options } })
new Server({
  background: {
    mqtt: {
      subscribe: [
        'src/**/*.ts',
        Doors,
        {
          topic: 'typed/door',
          handler: (door, details) => {
            type _door = Expect<Equal<typeof door, { open: boolean }>>
            return details?.signal.aborted
          },
          options: { details: true },
        },
        { topic: '$share/group/typed/door', handler: ({ open }) => open },
        { topic: 'typed/sensors/+/temperature', handler: (topic, degrees) => [topic.length, degrees.toFixed()] },
        { topic: '$SYS/broker/uptime', handler: (uptime) => String(uptime) },
        // @ts-expect-error a door is not a number
        { topic: 'typed/door', handler: (message: number) => message },
        // @ts-expect-error no such topic
        { topic: 'typed/dor', handler: () => {} },
        // @ts-expect-error a misspelt option
        { topic: 'typed/door', handler: () => {}, options: { rwa: true } },
        // @ts-expect-error bytes have no type of `MqttTopics`: they need `mqtt.subscribe`
        { topic: 'typed/door', handler: () => {}, options: { raw: true } },
      ],
    },
  },
})
new Server({ plugins: { mqtt: true } })
const server = new Server([mqttPlugin({ connect: { provider: 'memory' } })])
type _service = Expect<Equal<typeof server.services.mqtt, MqttService>>
server.services.mqtt.publish('typed/door', { open: true })
MqttService.connect({ host: 'h', port: 1, will: { topic: 'gone', message: { at: 1 }, retain: true } })
MqttService.disconnect()
// @ts-expect-error there is no such provider
new Server({ plugins: { mqtt: { connect: { provider: 'redis' } } } })
// @ts-expect-error a misspelt option
new Server({ background: { mqtt: { conect: {} } } })
