import type { Socket } from 'node:net'
import type * as mqttPackage from 'mqtt'
import { systemClock } from '../../../kernel/index.ts'
import { deferred, withinTime } from '../../shared/values/promises.ts'
import { MqttPayloadError, MqttPublishError, MqttSubscribeError, MqttUnavailableError, withReason } from '../errors.ts'
import { type MqttQos, needsVersion5 } from '../messages/message-options.ts'
import type { MqttSettings } from '../options.ts'
import { Acks } from './acks.ts'
import { clientOptions } from './client-options.ts'
import { type Link, type LinkEvents, LinkLost, type Outgoing, type Patience } from './contract.ts'
import { detailsOf, packetProperties, withCarrier } from './packets.ts'

/** The used part of the package `mqtt`. */
export type MqttPackage = Pick<typeof mqttPackage, 'connect' | 'ReasonCodes'>
type MqttClient = mqttPackage.MqttClient

/** The window where the broker announces none: enough to keep a connection busy. */
const defaultWindow = 1000

/** The codes with which a broker refuses MQTT 5 itself, in 3.1.1 and in 5. */
const isVersionRefused = (code: unknown) => code === 1 || code === 132

/** The remedies for a connection that fails, by the code of its error. */
const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED|UnknownIssuer/,
    'Its certificate is not signed by a known authority: pass the certificate of its authority as ca',
  ],
  [/^CERT_HAS_EXPIRED/, 'Renew its certificate, and check the clock of this machine'],
  [/^CERT_NOT_YET_VALID/, 'Check the clock of this machine'],
  [/ALTNAME_INVALID/, 'Connect to a name in its certificate, or pass one of those names as servername'],
  [/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/, 'It asks for a client certificate: pass cert and key'],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERT|(UNSUPPORTED_)?CERT|ACCESS_DENIED|DECRYPT)/,
    'It does not accept the client certificate: pass one as cert that its authority signed and that has not expired',
  ],
  [/KEY_VALUES_MISMATCH/, 'Pass the key that matches cert'],
  [/^ERR_OSSL_/, 'Check ca, cert and key: one of them cannot be read'],
  [/WRONG_VERSION|^EPROTO$/, 'This port speaks another protocol: check protocol and port'],
  [
    /^ECONNRESET$/,
    'Is it running? A broker also closes the connection if the port speaks another protocol: check protocol and port',
  ],
]

/** Why a connection fails, in one line, and the remedy. */
function explainFailure(error: Error & { code?: unknown; reason?: unknown }): string {
  const code = String(error.code ?? '')
  // The message of OpenSSL contains a line number of its source and an address in memory.
  const text =
    typeof error.reason === 'string' && /error:[\dA-F]{8}:/.test(error.message) ? error.reason : error.message
  const why = text === '' ? code || error.name : text
  const remedy = remedies.find(([pattern]) => pattern.test(code))?.[1]
  const number = typeof error.code === 'number' ? ` (${code})` : ''
  return `${why.replace(/\.$/, '')}${number}. ${remedy ?? 'Is it running, and are the address and the credentials right?'}`
}

/** A connection over the network, through the package `mqtt`. */
export class NetworkLink implements Link {
  readonly #mqtt: MqttPackage
  readonly #settings: MqttSettings
  readonly #events: LinkEvents
  /** Attempts to connect since a connection lasted. */
  #attempts = 0
  #upSince = 0
  readonly #acks = new Acks()
  #isClosing = false
  #client: MqttClient | undefined
  #version: 4 | 5
  /** Functions that give up the messages that the broker has not acknowledged. */
  readonly #underWay = new Set<() => void>()
  #isUp = false
  #announced: NonNullable<MqttClient['serverProperties']> = {}
  #lastError: Error | undefined

  constructor(mqtt: MqttPackage, settings: MqttSettings, events: LinkEvents) {
    this.#mqtt = mqtt
    this.#settings = settings
    this.#events = events
    this.#version = settings.protocolVersion ?? 5
  }

  /** The delay before the next attempt, less a random part of up to half: the clients of a broker must not all come back at the same moment. */
  #delay(): number {
    const { reconnectDelay, maxReconnectDelay } = this.#settings
    const full = Math.min(reconnectDelay * 2 ** Math.min(this.#attempts++, 30), maxReconnectDelay)
    return Math.max(1, Math.round(full * (0.5 + Math.random() / 2)))
  }

  get window(): number {
    return Math.min(this.#announced.receiveMaximum ?? defaultWindow, defaultWindow)
  }

  /** The client itself tries again, and takes up a connection that was lost. */
  async open(isPatient: boolean): Promise<void> {
    const { promise, resolve, reject } = deferred()
    const failed = (why: Error) => {
      if (this.#fallsBack(why)) this.#client!.reconnect()
      else if (isPatient && !this.#isClosing) this.#events.down(this.#unavailable(why))
      else {
        this.#client?.end(true)
        reject(this.#unavailable(why))
      }
    }
    try {
      const options = clientOptions(this.#settings, this.#version)
      this.#client = this.#mqtt.connect({ ...options, reconnectPeriod: this.#delay() })
      this.#client.once('connect', () => resolve())
      this.#listen(this.#client, failed)
    } catch (error) {
      // Not a failure of the connection: a certificate and a key that do not match, for example.
      failed(error as Error)
    }
    return promise
  }

  /** Whether the broker refuses MQTT 5, and the options allow 3.1.1, which is then tried. */
  #fallsBack({ code }: Error & { code?: unknown }): boolean {
    if (this.#settings.protocolVersion !== undefined || this.#version === 4 || !isVersionRefused(code)) return false
    this.#version = 4
    this.#client!.options.protocolVersion = 4
    return true
  }

  /** `failed` is called when the first connection fails. */
  #listen(client: MqttClient, failed: (why: Error) => void): void {
    client.on('error', (error) => {
      this.#lastError = error
      // Bytes of another protocol are an error that does not end the connection.
      if (!this.#isUp) client.stream.destroy()
    })
    client.on('disconnect', ({ reasonCode }) => {
      if (!reasonCode) return
      const why = (this.#mqtt.ReasonCodes as { readonly [code: number]: string })[reasonCode]
      this.#lastError = Object.assign(new Error(`it closed the connection: ${why}`), { code: reasonCode })
    })
    client.on('connect', ({ sessionPresent }) => {
      this.#announced = client.serverProperties ?? {}
      this.#lastError = undefined
      this.#isUp = true
      this.#upSince = systemClock.monotonic()
      client.options.reconnectPeriod = this.#delay()
      this.#events.up(sessionPresent)
    })
    client.on('reconnect', () => {
      client.options.reconnectPeriod = this.#delay()
    })
    client.on('close', () => {
      const lost = this.#lastError ?? new Error('the connection was closed')
      if (!this.#isUp) {
        if (this.#upSince === 0) failed(this.#isClosing ? new Error('the service has stopped') : lost)
        return
      }
      this.#isUp = false
      // Two clients of the same name, which disconnect each other, wait longer and longer.
      if (systemClock.monotonic() - this.#upSince > this.#settings.maxReconnectDelay) this.#attempts = 0
      this.#acks.disconnected()
      for (const lose of [...this.#underWay]) lose()
      this.#events.down(this.#unavailable(lost))
    })
    client.on('packetreceive', (packet) => {
      // Not on `connect`, which is emitted later: messages of the session may come directly after this packet.
      if (packet.cmd === 'connack') {
        // Acknowledgements are small: TCP delayed them until the broker had acknowledged the last one, which it did
        // after 40 ms, and that limited them to 500 messages a second.
        // A stream of websockets does not have the method.
        ;(client.stream as Partial<Socket>).setNoDelay?.(true)
        this.#acks.connected(client.stream, packet.sessionPresent)
      }
      if (packet.cmd === 'pubrel') this.#acks.release(packet.messageId!)
      if (packet.cmd !== 'publish') return
      const { qos } = packet
      const handled = qos === 0 ? () => {} : this.#acks.take(client.stream, qos, packet.messageId!, packet.dup)
      // Acknowledgements are sent by `Acks`: the client itself would send them before the handlers have finished, or take no other packet
      // until they have, and a handler that publishes would wait for a response that waits for it.
      packet.qos = 0
      if (handled === undefined) return
      const payload = packet.payload as Buffer
      this.#events.message({
        payload,
        details: detailsOf(packet, qos),
        subscriptions: [packet.properties?.subscriptionIdentifier ?? []].flat(),
        handled,
      })
    })
  }

  publish(message: Outgoing, patience: Patience): Promise<unknown> {
    const { topic, payload, options } = message
    this.#mustTake(message)
    const { qos = 0, retain = false } = options
    const properties = packetProperties(this.#carries(message) ? withCarrier(message) : options)
    const published = this.#client!.publishAsync(topic, payload, { qos, retain, properties })
    return qos === 0 ? published : this.#acknowledged(topic, published, patience)
  }

  /** Resolves when the broker has acknowledged the message that was sent last. */
  async #acknowledged(topic: string, published: Promise<unknown>, patience: Patience): Promise<void> {
    const client = this.#client!
    const id = client.getLastMessageId()
    let isLost = false
    const remove = () => client.removeOutgoingMessage(id)
    // If the broker keeps the session, the client itself continues; if not, it would send this again
    // before the subscriptions are restored, and this process would miss its own messages.
    const lose = () => {
      isLost = true
      remove()
    }
    const isKept = !this.#settings.clean
    if (!isKept) this.#underWay.add(lose)
    patience.whenOver = remove
    try {
      await published
    } catch (error) {
      if (isLost) throw new LinkLost('lost', { cause: error })
      if (patience.isOver) throw error
      throw withReason(MqttPublishError(topic, (error as Error).message), error)
    } finally {
      this.#underWay.delete(lose)
      patience.whenOver = undefined
    }
  }

  /** Whether to send the carrier: MQTT 3.1.1 has no user properties, and a message that fits is not refused because of its carrier. */
  #carries({ topic, payload, options, carrier }: Outgoing): boolean {
    if (carrier === undefined || this.#version === 4) return false
    const { maximumPacketSize = Number.POSITIVE_INFINITY } = this.#announced
    // Each property takes five bytes on top of its name and its value.
    const texts = Object.entries({ ...options.userProperties, ...carrier }).flat(2)
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 5, 64)
    return payload.byteLength + Buffer.byteLength(topic) + size <= maximumPacketSize
  }

  /** Refuses a message that would make the broker end the connection. */
  #mustTake({ topic, payload, options }: Outgoing): void {
    const { maximumPacketSize, maximumQoS, retainAvailable } = this.#announced
    const later = this.#version === 4 ? needsVersion5(options) : undefined
    if (later !== undefined) throw MqttPublishError(topic, `it speaks MQTT 3.1.1, which has no ${later}`)
    if (maximumPacketSize !== undefined && payload.byteLength + Buffer.byteLength(topic) + 16 > maximumPacketSize) {
      throw MqttPayloadError(
        topic,
        `has ${payload.byteLength} bytes; this broker takes ${maximumPacketSize} in a packet`,
      )
    }
    if (maximumQoS !== undefined && (options.qos ?? 0) > maximumQoS)
      throw MqttPublishError(topic, `it has no QoS above ${maximumQoS}`)
    if (retainAvailable === false && options.retain) throw MqttPublishError(topic, 'it keeps no messages (retain)')
  }

  async subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void> {
    // The broker sends along which subscriptions a message is for.
    const isNamed = this.#version === 5 && this.#announced.subscriptionIdentifiersAvailable !== false
    const properties = { subscriptionIdentifier: subscription }
    try {
      await this.#client!.subscribeAsync(filter, { qos, ...(isNamed && { properties }) })
    } catch (error) {
      const code = (error as { packet?: { granted?: readonly number[] } }).packet?.granted?.[0]
      if (code === undefined) throw new LinkLost('lost', { cause: error })
      const why = (error as Error).message.replace('Subscribe error: ', '')
      throw withReason(MqttSubscribeError(filter, `${why} (${code})`), Object.assign(error as Error, { code }))
    }
  }

  async unsubscribe(filter: string): Promise<void> {
    await this.#client!.unsubscribeAsync(filter)
  }

  async ping(): Promise<void> {
    const client = this.#client!
    const { promise, resolve, reject } = deferred()
    const received = ({ cmd }: { readonly cmd: string }) => void (cmd === 'pingresp' && resolve())
    const closed = () => reject(this.#lastError ?? new LinkLost('the connection was closed'))
    client.on('packetreceive', received).once('close', closed)
    try {
      client.sendPing()
      await promise
    } finally {
      client.off('packetreceive', received).off('close', closed)
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    const client = this.#client
    if (client === undefined) return
    // The client waits for unacknowledged messages: for ever if the broker is frozen.
    const isUp = this.#isUp
    this.#isUp = false
    const ended = isUp && (await withinTime(client.endAsync(), 1000, systemClock))
    if (!ended) {
      client.stream.destroy()
      await withinTime(client.endAsync(true), 1000, systemClock)
    }
  }

  #unavailable(error: Error & { code?: unknown }): Error {
    const { shown } = this.#settings.address
    return withReason(MqttUnavailableError(`the broker ${shown} cannot be reached: ${explainFailure(error)}`), error)
  }
}
