import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { Handled, missing, pair } from './pair.ts'

const reading = { sensor: 'roof', celsius: 21.5, at: '2026-01-01T12:00:00.000Z' }
const isRight = (message: unknown) => (message as typeof reading).celsius === reading.celsius

/** Sends a message to the broker and back, until its handler has ended. */
export async function mqttCases(built: Built): Promise<MicroCase[]> {
  const groups = [0, 1] as const
  const nameOf = (qos: 0 | 1) => `publish and handle, QoS ${qos}`
  const { mosquitto: url } = built.services
  if (url === undefined) return groups.map((qos) => missing(nameOf(qos), 'mosquitto'))
  const { MqttService, mqtt } = await built.door()
  const { connectAsync } = (await import('mqtt')).default
  await MqttService.connect({ url, subscribe: [] })
  const client = await connectAsync(url, { protocolVersion: 5 })
  // As in the plugin: otherwise small packets would wait for the acknowledgement of the previous one.
  ;(client.stream as { setNoDelay?(): void }).setNoDelay?.()
  const byTopic = new Map<string, (message: unknown) => void>()
  client.on('message', (topic, payload) => byTopic.get(topic)?.(JSON.parse(payload.toString('utf8'))))
  const cases: MicroCase[] = []
  for (const qos of groups) {
    const [own, other] = [new Handled(isRight), new Handled(isRight)]
    await mqtt.subscribe(`own/${qos}`, own.handle, { qos })
    byTopic.set(`other/${qos}`, other.handle)
    await client.subscribeAsync(`other/${qos}`, { qos })
    cases.push(
      ...pair(nameOf(qos), 16, {
        'by hand': other.through(() => client.publishAsync(`other/${qos}`, JSON.stringify(reading), { qos })),
        framework: own.through(() => mqtt.publish(`own/${qos}`, reading, { qos })),
      }),
    )
  }
  return cases
}
