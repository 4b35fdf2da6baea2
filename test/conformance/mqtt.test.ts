import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../support/mosquitto.ts'
import { type Certificates, hasOpenssl, makeCertificates } from '../support/mqtt-certificates.ts'
import { freePort } from '../support/own-server.ts'
import { resultOf, runtimeKinds, type Target } from './targets.ts'

const seenOn = (target: Target, connect: object) =>
  resultOf(target, 'mqtt.mjs', [target.adapter ?? '', JSON.stringify(connect)])

const expected = {
  status: 200,
  exact: [{ ü: [1] }, 'text'],
  pattern: [
    ['/a', { ü: [1] }],
    ['/a', 'text'],
    ['/raw', '\0\ufffd'],
  ],
  raw: [[true, 0, 255]],
  ended: true,
  healthy: true,
  refused: 'MqttUnavailableError',
  unconnected: 'MqttNotConnectedError',
}

const all = runtimeKinds.map((target) => [target.name, target] as const)
const few = all.filter(([name]) => ['node', 'bun', 'deno'].includes(name))

test.each(few)('MQTT in memory on %s', async (_name, target) => {
  expect(await seenOn(target, { provider: 'memory' })).toEqual(expected)
})

describe.skipIf(!hasMosquitto || !hasOpenssl)('with mosquitto', () => {
  let broker: Mosquitto
  let certificates: Certificates
  let tls: number
  beforeAll(async () => {
    certificates = makeCertificates()
    tls = await freePort()
    broker = await startMosquitto(`listener ${tls} 127.0.0.1`, ...certificates.lines)
  })
  afterAll(async () => {
    await broker.stop()
    certificates.remove()
  })

  test.each(all)('MQTT 5 on %s', async (_name, target) => {
    expect(await seenOn(target, { url: broker.url })).toEqual(expected)
  })
  test.each(few)('MQTT 3.1.1 on %s', async (_name, target) => {
    expect(await seenOn(target, { url: broker.url, protocolVersion: 4 })).toEqual(expected)
  })
  test.each(few)('websockets on %s', async (_name, target) => {
    expect(await seenOn(target, { url: broker.websocketUrl })).toEqual(expected)
  })
  test.each(few)('TLS on %s', async (_name, target) => {
    expect(await seenOn(target, { protocol: 'mqtts', host: 'localhost', port: tls, ca: certificates.ca })).toEqual(
      expected,
    )
  })
})
