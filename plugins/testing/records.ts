import type { Kernel } from '../../kernel/index.ts'
import type { ChannelPublishTrace } from '../channels/index.ts'
import type { MailSendTrace } from '../mailer/index.ts'
import type { MqttPublishTrace } from '../mqtt/index.ts'
import type { QueuePublishTrace } from '../queues/index.ts'
import { followChannel } from '../shared/development/held-channel.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { safely } from '../shared/values/safely.ts'
import type { StorageTrace } from '../storage/index.ts'
import { TestRecord } from './record.ts'

/** An email that a provider has accepted. */
export interface TestEmail {
  /** The addresses of all recipients, `cc` and `bcc` included. */
  readonly to: readonly string[]
  /** The address of the sender. */
  readonly from: string
  /** Its subject line. */
  readonly subject: string
  /** The plain text. */
  readonly text: string | undefined
  /** The HTML, if it has any. */
  readonly html: string | undefined
  /** The name of the provider. */
  readonly provider: string
}

/** A message that a queue has accepted. */
export interface TestJob {
  /** The name of the queue. */
  readonly queue: string
  /** The id that `publish` returned. */
  readonly id: string
  /** What was published. */
  readonly payload: unknown
}

/** A message that a broker or a channel has accepted. */
export interface TestMessage {
  /** How it is sent: through MQTT, or to the clients in a channel. */
  readonly via: 'mqtt' | 'channels'
  /** The topic, or the name of the channel. */
  readonly topic: string
  /** What was published: parsed JSON, otherwise a string. */
  readonly payload: unknown
}

/** An object in the storage. */
export interface TestObject {
  /** The name of its disk. */
  readonly disk: string
  /** The key that it was stored with. */
  readonly key: string
}

/** A websocket that is open. */
export interface TestSocket {
  /** The path of its route. */
  readonly route: string
  /** The id of its `ServerSocket`. */
  readonly id: string
  /** What the handler `data` has returned. */
  readonly data: unknown
}

/** What a server under test has done. */
export interface TestRecords {
  /** The emails that were sent. */
  readonly emails: TestRecord<TestEmail>
  /** The messages that were published to queues. */
  readonly jobs: TestRecord<TestJob>
  /** The messages that were published to MQTT topics and to channels. */
  readonly messages: TestRecord<TestMessage>
  /** The objects that are stored and have been written since the start. */
  readonly objects: TestRecord<TestObject>
  /** The websockets that are open. */
  readonly sockets: TestRecord<TestSocket>
}

/** Records what a server does; `stops` end this. */
export function recordsOf(server: Kernel, stops: (() => void)[]): TestRecords {
  const emails: TestEmail[] = []
  const jobs: TestJob[] = []
  const messages: TestMessage[] = []
  const objects = new Map<string, TestObject>()
  const on = <Event extends { readonly server: object | undefined }>(kind: string, note: (event: Event) => void) =>
    stops.push(
      followChannel(`tracing:framework:${kind}:asyncEnd`, (event: Event) => {
        if (event.server === server && !('error' in event)) note(event)
      }),
    )
  on<MailSendTrace>('mail.send', ({ provider, mail: { envelope, subject, text, html } }) =>
    emails.push({ to: envelope.to, from: envelope.from, subject, text, html, provider }),
  )
  on<QueuePublishTrace>('queue.publish', ({ queue, payloads, ids = [] }) =>
    jobs.push(...payloads.map((payload, i) => ({ queue, id: ids[i] ?? '', payload }))),
  )
  const parsed = (text: string): unknown => safely(() => JSON.parse(text), text)
  on<MqttPublishTrace>('mqtt.publish', ({ topic, payload }) =>
    messages.push({ via: 'mqtt', topic, payload: parsed(new TextDecoder().decode(payload)) }),
  )
  on<ChannelPublishTrace>('channel.publish', ({ channel: topic, kind, body }) => {
    if (kind === 'message') messages.push({ via: 'channels', topic, payload: parsed(body) })
  })
  on<StorageTrace>('storage', ({ disk, operation, key, to = key }) => {
    if (operation === 'remove' || operation === 'move') objects.delete(`${disk} ${key}`)
    if (!['put', 'copy', 'move'].includes(operation)) return
    // The last written is the last.
    objects.delete(`${disk} ${to}`)
    objects.set(`${disk} ${to}`, { disk, key: to })
  })
  const seen = new WeakMap<object, TestSocket>()
  const open = () =>
    [...(server.services.find('websockets') ?? [])].map((socket) =>
      madeIn(seen, socket, () => ({ route: socket.route, id: socket.id, data: socket.data })),
    )
  return {
    emails: new TestRecord<TestEmail>('emails', ['to', 'from', 'subject', 'text', 'html', 'provider'], () => emails),
    jobs: new TestRecord<TestJob>('jobs', ['queue', 'id', 'payload'], () => jobs),
    messages: new TestRecord<TestMessage>('messages', ['via', 'topic', 'payload'], () => messages),
    objects: new TestRecord<TestObject>('objects', ['disk', 'key'], () => [...objects.values()]),
    sockets: new TestRecord<TestSocket>('open sockets', ['route', 'id', 'data'], open),
  }
}
