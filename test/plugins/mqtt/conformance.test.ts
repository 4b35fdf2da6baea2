import { MqttService } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testMqttBroker } from '../../contracts/mqtt-broker.ts'
import { hasAedes, startAedes } from '../../support/aedes.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts'
import { type Certificates, hasOpenssl, makeCertificates } from '../../support/mqtt-certificates.ts'
import { freePort, type OwnServer } from '../../support/own-server.ts'

describe('in memory', () => testMqttBroker(() => ({ provider: 'memory' }), { test }))

// With mosquitto it has nothing to add.
if (!hasMosquitto && hasAedes)
  describe('aedes, in place of mosquitto', () => {
    let broker: OwnServer
    beforeAll(async () => {
      broker = await startAedes()
    })
    afterAll(() => broker.stop())
    testMqttBroker(() => ({ url: broker.url, protocolVersion: 4 }), { test, isVersion5: false })
  })

describe.skipIf(!hasMosquitto || !hasOpenssl)('mosquitto', () => {
  let broker: Mosquitto
  let certificates: Certificates
  let tls: number
  let wss: number
  beforeAll(async () => {
    certificates = makeCertificates()
    tls = await freePort()
    wss = await freePort()
    broker = await startMosquitto(
      ...[`listener ${tls} 127.0.0.1`, ...certificates.lines, 'require_certificate true'],
      ...[`listener ${wss} 127.0.0.1`, 'protocol websockets', ...certificates.lines],
    )
  })
  afterAll(async () => {
    await broker.stop()
    certificates.remove()
  })
  describe('MQTT 5 over TCP', () => testMqttBroker(() => ({ host: '127.0.0.1', port: broker.port }), { test }))
  describe('MQTT 3.1.1 over TCP', () =>
    testMqttBroker(() => ({ url: broker.url, protocolVersion: 4 }), { test, isVersion5: false }))
  describe('over websockets', () => testMqttBroker(() => ({ url: broker.websocketUrl }), { test, isWay: true }))
  describe('over TLS, with a certificate of the client', () =>
    testMqttBroker(
      () => ({
        protocol: 'mqtts',
        host: 'localhost',
        port: tls,
        ca: certificates.ca,
        cert: certificates.clientCert,
        key: certificates.clientKey,
      }),
      { test, isWay: true },
    ))
  test('a certificate that no one has signed is refused, unless any will do', async () => {
    const address = { host: 'localhost', port: tls, cert: certificates.clientCert, key: certificates.clientKey }
    const service = new MqttService({ protocol: 'mqtts', ...address })
    await expect(service.start()).rejects.toMatchObject({
      code: 'MqttUnavailableError',
      message: expect.stringMatching(/self.signed/),
    })
    const trusting = new MqttService({ protocol: 'mqtts', ...address, rejectUnauthorized: false })
    await trusting.start()
    expect(trusting.isConnected).toBe(true)
    await trusting.stop()
  })

  describe('over websockets and TLS', () =>
    testMqttBroker(() => ({ url: `wss://localhost:${wss}`, ca: Buffer.from(certificates.ca) }), { test, isWay: true }))
})
