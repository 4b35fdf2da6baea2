import { type MqttConnectOptions, MqttService } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts'
import { type Certificates, hasOpenssl, makeCertificates } from '../../support/mqtt-certificates.ts'
import { freePort } from '../../support/own-server.ts'

describe.skipIf(!hasMosquitto || !hasOpenssl)('a broker with TLS', () => {
  let broker: Mosquitto
  let own: Certificates
  let strange: Certificates
  const ports: Record<string, number> = {}
  beforeAll(async () => {
    own = makeCertificates()
    strange = makeCertificates()
    const kinds = {
      good: own.lines,
      elsewhere: own.linesFor('example.org'),
      expired: own.linesFor('localhost', 'expired'),
      guarded: [...own.lines, 'require_certificate true'],
    }
    const lines: string[] = []
    for (const [kind, settings] of Object.entries(kinds)) {
      ports[`mqtts ${kind}`] = await freePort()
      lines.push(`listener ${ports[`mqtts ${kind}`]} 127.0.0.1`, ...settings)
      ports[`wss ${kind}`] = await freePort()
      lines.push(`listener ${ports[`wss ${kind}`]} 127.0.0.1`, 'protocol websockets', ...settings)
    }
    broker = await startMosquitto(...lines)
  })
  afterAll(async () => {
    await broker.stop()
    own.remove()
    strange.remove()
  })

  async function connect(options: MqttConnectOptions) {
    const service = new MqttService({ host: 'localhost', connectTimeout: 20_000, ...options, logger: memoryLogger() })
    try {
      await service.start()
    } finally {
      await service.stop({ timeout: 0 })
    }
  }

  const protocols = ['mqtts', 'wss'] as const
  type Case = [kind: string, options: () => MqttConnectOptions, why: RegExp]
  const cases: Case[] = [
    ['good', () => ({}), /self.signed.*pass the certificate of its authority as ca$/],
    ['good', () => ({ ca: strange.ca }), /self.signed.*pass the certificate of its authority as ca$/],
    ['elsewhere', () => ({ ca: own.ca }), /example\.org.*pass one of those names as servername$/],
    ['expired', () => ({ ca: own.ca }), /expired\. Renew its certificate/],
    ['guarded', () => ({ ca: own.ca }), /certificate required\. .*pass cert and key$/],
    [
      'guarded',
      () => ({ ca: own.ca, cert: strange.clientCert, key: strange.clientKey }),
      /It does not accept the client certificate/,
    ],
    [
      'guarded',
      () => ({ ca: own.ca, cert: own.clientCert, key: strange.clientKey }),
      /Pass the key that matches cert$/,
    ],
  ]
  for (const protocol of protocols) {
    for (const [kind, options, why] of cases) {
      test(`over ${protocol}, ${kind}: ${why.source}`, async () => {
        const port = ports[`${protocol} ${kind}`]!
        const failure = connect({ protocol, port, ...options() })
        await expect(failure).rejects.toMatchObject({
          code: 'MqttUnavailableError',
          message: expect.stringMatching(why),
        })
        await expect(failure).rejects.not.toMatchObject({ message: expect.stringMatching(/\n|deps\/openssl/) })
      })
    }
    test(`over ${protocol} it takes who has what it wants`, async () => {
      const client = { ca: own.ca, cert: own.clientCert, key: own.clientKey }
      await connect({ protocol, port: ports[`${protocol} guarded`]!, ...client })
      await connect({ protocol, port: ports[`${protocol} elsewhere`]!, ca: own.ca, servername: 'example.org' })
    })
  }

  test('another protocol at the port is guessed', async () => {
    const refused = { code: 'MqttUnavailableError', message: expect.stringContaining('check protocol and port') }
    await expect(connect({ port: ports['mqtts good']! })).rejects.toMatchObject(refused)
    await expect(connect({ protocol: 'mqtts', port: broker.port })).rejects.toMatchObject(refused)
  })
})

test.each([
  [{ ca: '/etc/ssl/ca.pem' }, 'mqtt.connect.ca'],
  [{ ca: [Buffer.from('nonsense')] }, 'mqtt.connect.ca'],
  [{ cert: 'client.pem', key: 'client-key.pem' }, 'mqtt.connect.cert'],
])('a value that is not PEM is reported: %j', (options, name) => {
  expect(() => new MqttService({ protocol: 'mqtts', ...options })).toThrow(
    expect.objectContaining({ code: 'OptionError', message: expect.stringMatching(`${name}.*-----BEGIN`) }),
  )
})
