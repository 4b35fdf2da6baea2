import { atEachBoot, type CallSite, definePlugin } from '../../kernel/index.ts'
import type { AsyncApiChannel } from '../asyncapi/index.ts'
import { addressOfName } from '../shared/descriptions/names.ts'
import { machine } from '../shared/development/connections.ts'
import { isLeading } from '../shared/environment/supervisor.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import '../shared/work/open-work.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import { deliverFromOutbox } from '../shared/work/outbox.ts'
import { MqttClientIdError, MqttWorkersError } from './errors.ts'
import { mqttOptions } from './options.ts'
import { type MqttPublishTrace, MqttService } from './service.ts'
import { mqttClasses } from './subscriptions/base-mqtt.ts'
import { isServed, servers, subscriptionsOf } from './subscriptions/connections.ts'
import type { Declared } from './subscriptions/declarations.ts'
import type { MqttMessageTrace } from './subscriptions/handler-queue.ts'
import type { Filter } from './topics/filter.ts'

const remedy = 'register the plugin "mqtt" (background: { mqtt: { connect: { … } } }), or call MqttService.connect()'

// Also reports from servers without this plugin.
atEachBoot((server) => {
  if (!isServed()) mqttClasses.reportUnserved(server.logger, remedy)
})

type Settings = SettingsOf<typeof mqttOptions>

/** The names of clients at their brokers, with the places of their servers. */
const clients = new Map<string, CallSite>()

/**
 * Notes the name of a server's client at its broker; returns the function that ends this.
 *
 * @throws MqttClientIdError if another server of this process has the same.
 */
function claimName({ connect, place }: Settings): () => void {
  const { clientId, provider, address, host, port, url } = connect
  // Without an address, a broker in memory belongs to one server.
  const isOwn = provider === 'memory' && url === undefined && host === undefined && port === undefined
  if (clientId === undefined || place === undefined || isOwn) return () => {}
  const name = JSON.stringify([provider, address.host, address.port, clientId])
  const other = clients.get(name)
  if (other !== undefined) throw MqttClientIdError(clientId, address.shown, other, place)
  clients.set(name, place)
  return () => void clients.delete(name)
}

const list = { id: 'mqtt', title: 'MQTT' }
const system = { 'messaging.system': 'mqtt' }
const publish = { ...system, 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' }
const process = { ...system, 'messaging.operation.name': 'process' }
const messageOf = ({ topic, bytes }: MqttPublishTrace | MqttMessageTrace) => ({
  'messaging.destination.name': topic,
  'messaging.message.body.size': bytes,
})

const work: readonly WorkKind[] = [
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

/**
 * Connects to an MQTT broker while the server listens, and handles the messages of all subscriptions; needs the package
 * `mqtt`, unless the provider is `'memory'`.
 *
 * @example
 * import { mqtt, Server } from 'framework'
 *
 * mqtt.subscribe('doors/front', (door) => console.log(door), { qos: 1 })
 * const server = new Server({ plugins: { mqtt: { connect: { host: 'broker.example' }, subscribe: ['dist/mqtt/*.js'] } } })
 * await server.listen()
 */
export const mqtt = definePlugin({
  name: 'mqtt',
  access: false,
  options: mqttOptions,
  inspector: () => [
    {
      title: 'MQTT subscriptions',
      columns: ['Filter', 'QoS', 'Connected'],
      rows(services) {
        const service = services.get('mqtt')
        return service
          .subscriptions()
          .map(({ filter: { text }, options: { qos = 0 } }) => [text, qos, service.isConnected])
      },
    },
  ],
  work,
  asyncapi: { channels },
  reaches: ({ connect: { provider, address } }: Settings) =>
    provider === 'mqtt' ? [machine('MQTT broker', address.shown)] : [],
  runs: (services) => services.mqtt!.subscriptions().map(({ filter }) => `process ${filter.text}`),
  // Without the broker nothing is published or received. An application that starts without it can do without.
  health: {
    mqtt: {
      // Before the server listens, nothing has connected yet.
      check: (services) => (services.get('mqtt').hasStarted ? services.get('mqtt').check() : undefined),
      onFailure: (services) => (services.get('mqtt').isRequired ? 'error' : 'degraded'),
      remedy: 'Start the broker, or correct mqtt.connect',
    },
  },
  // A broker that has responded has sent before what it had for this client; one that does not has nothing that could be waited for.
  openWork: async (services) => {
    const mqtt = services.get('mqtt')
    if (mqtt.isConnected) await mqtt.check().catch(() => {})
    return []
  },
  // Without an address, so that the broker is that of the server alone.
  memory: ({ connect }) => ({
    connect: { ...connect, provider: 'memory' as const, url: undefined, host: undefined, port: undefined },
  }),
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: ({ connect, subscribe }) => ({ mqtt: new MqttService({}, { ...connect, subscribe, logger: undefined }) }),
  setup(ctx, settings) {
    const { clientId, provider } = settings.connect
    const service = ctx.services.get('mqtt')
    const { worker } = ctx.server
    // A broker in memory belongs to one process: no other worker would receive its messages.
    const isShared = worker !== undefined && provider === 'mqtt'
    if (isShared && clientId !== undefined && worker.of > 1) throw MqttWorkersError(clientId, worker)
    if (isShared && !isLeading(worker)) service.follow()
    const releaseName = claimName(settings)
    const unmount = service.mount(ctx.server, ctx.log)
    deliverFromOutbox(ctx.server, 'mqtt', (message) => service.deliver(message))
    // The broker disconnects a client when another one of the same name connects, so the previous process must end first.
    ctx.onListen(() => (isShared && clientId !== undefined ? service.startsLater() : service.start()))
    ctx.onLead(async () => {
      await service.start()
      await service.lead()
    })
    ctx.onDrain(() => service.drain())
    ctx.onClose(async (timeLeft) => {
      await service.stop({ timeout: timeLeft }).finally(unmount)
      releaseName()
    })
  },
})

/** A filter as an address, in which each wildcard is a parameter. */
function addressOf({ levels }: Filter): Pick<AsyncApiChannel, 'address' | 'parameters'> {
  const parameters: { [name: string]: { description: string } } = {}
  const parts = levels.map((level, at) => {
    if (level !== '+' && level !== '#') return addressOfName(level)
    const name = level === '#' ? 'rest' : `level${at + 1}`
    parameters[name] = { description: level === '#' ? 'All further levels of the topic.' : 'One level of the topic.' }
    return `{${name}}`
  })
  return { address: parts.join('/'), ...(Object.keys(parameters).length > 0 && { parameters }) }
}

/** The channels for the description of messages: each topic that the server subscribes to. */
function channels({ server, settings }: { readonly server: object; readonly settings: unknown }): AsyncApiChannel[] {
  // Keyed by filter: groups that share a subscription receive the same messages.
  const topics = new Map<string, Declared[]>()
  // A server that has not booted is described as well; the settings are those of this plugin.
  for (const declared of servers.of(server)?.subscriptions() ??
    subscriptionsOf((settings as Settings).subscribe, server))
    madeIn(topics, declared.filter.levels.join('/'), (): Declared[] => []).push(declared)
  return [...topics.values()].map((all) => {
    const filters = [...new Set(all.map(({ filter }) => filter.text))]
    // What the broker receives: the highest value that the handlers request.
    const qos = Math.max(...all.map(({ options }) => options.qos ?? 0))
    return {
      ...addressOf(all[0]!.filter),
      protocol: 'mqtt',
      receive: all.map(({ options: { schema } }) => ({
        name: 'message',
        ...(schema === undefined ? { description: 'Text, JSON or bytes of any content.' } : { payload: schema }),
      })),
      'x-filter': filters.length === 1 ? filters[0]! : filters,
      operationBindings: { mqtt: { qos, bindingVersion: '0.2.0' } },
    }
  })
}
