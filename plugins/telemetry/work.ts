import type { Attributes, Context } from '@opentelemetry/api'
import type { PluginTrace } from '../../kernel/index.ts'
import type { CacheTrace } from '../cache/index.ts'
import type { ChannelPublishTrace } from '../channels/index.ts'
import type { CronRunTrace } from '../cron/index.ts'
import type { GraphqlOperationTrace, GraphqlResolverTrace } from '../graphql/index.ts'
import type { MailSendTrace } from '../mailer/index.ts'
import type { MqttMessageTrace, MqttPublishTrace } from '../mqtt/index.ts'
import type { QueueAttemptTrace, QueuePublishTrace } from '../queues/index.ts'
import type { RateLimitTrace } from '../rateLimit/index.ts'
import type { StorageTrace } from '../storage/index.ts'
import type { Carrier } from '../toolkit/carrier.ts'
import { heldChannel } from '../toolkit/held-channel.ts'
import type { UploadTrace } from '../upload/index.ts'
import type { WebsocketMessageTrace } from '../websocket/index.ts'
import type { TelemetrySettings } from './options.ts'
import type { Begun, Spans } from './spans.ts'

/** The names of systems for which the semantic conventions use a different name. */
const systems: { readonly [kind: string]: string } = { sqs: 'aws_sqs' }

const messaging = (system: string, operation: 'publish' | 'process', destination: string): Attributes => ({
  'messaging.system': systems[system] ?? system,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation === 'publish' ? 'send' : 'process',
  'messaging.destination.name': destination,
})

/** Makes spans of the work of this process's services from now on; returns a function that ends this. */
export function followWork(spans: Spans, settings: TelemetrySettings): () => void {
  const { api } = spans
  const { SpanKind, ROOT_CONTEXT } = api
  const inject = ({ carrier }: { readonly carrier: Carrier }, context: Context) => spans.inject(context, carrier)
  /** What the work of a message belongs to: its publisher, whatever the worker itself is doing. */
  const origin = (carrier: Readonly<Carrier>): Pick<Begun, 'parent' | 'links'> => {
    const sent = spans.extract(carrier)
    // The baggage is kept in either case.
    const parent = settings.messages === 'parent' ? sent : api.trace.deleteSpan(sent)
    return { parent, links: spans.linksTo(sent) }
  }
  const ends = [
    spans.follow<QueuePublishTrace>({
      trace: 'queue.publish',
      begin: ({ queue, kind, count }) => ({
        name: `publish ${queue}`,
        kind: SpanKind.PRODUCER,
        attributes: messaging(kind, 'publish', queue),
        more: () => (count === 1 ? {} : { 'messaging.batch.message_count': count }),
      }),
      entered: inject,
    }),
    spans.follow<QueueAttemptTrace>({
      trace: 'queue.attempt',
      begin: ({ queue, kind, id, attempt, attempts, carrier }) => ({
        name: `process ${queue}`,
        kind: SpanKind.CONSUMER,
        ...origin(carrier),
        attributes: messaging(kind, 'process', queue),
        more: () => ({
          'messaging.message.id': id,
          'framework.queue.attempt': attempt,
          ...(attempts !== undefined && { 'framework.queue.attempts': attempts }),
        }),
      }),
    }),
    spans.follow<MqttPublishTrace>({
      trace: 'mqtt.publish',
      // Topics contain device numbers, which are too many for names of spans.
      begin: ({ topic, bytes }) => ({
        name: 'publish',
        kind: SpanKind.PRODUCER,
        attributes: messaging('mqtt', 'publish', topic),
        more: () => ({ 'messaging.message.body.size': bytes }),
      }),
      entered: inject,
    }),
    spans.follow<MqttMessageTrace>({
      trace: 'mqtt.message',
      begin: ({ topic, filter, bytes, carrier }) => ({
        name: `process ${filter}`,
        kind: SpanKind.CONSUMER,
        ...origin(carrier),
        attributes: messaging('mqtt', 'process', topic),
        more: () => ({ 'messaging.destination.template': filter, 'messaging.message.body.size': bytes }),
      }),
    }),
    spans.follow<CronRunTrace>({
      trace: 'cron.run',
      begin: ({ job, scheduledAt }) => ({
        name: `cron ${job}`,
        // Nothing requested the run: the work in which the timer was set does not include it.
        parent: ROOT_CONTEXT,
        attributes: { 'framework.cron.job': job },
        more: () => ({ 'framework.cron.scheduled_at': scheduledAt.toISOString() }),
      }),
    }),
    spans.follow<MailSendTrace>({
      trace: 'mail.send',
      // Includes nothing of the mail itself: its addresses and its subject are personal.
      begin: ({ provider }) => ({
        name: `mail ${provider}`,
        kind: SpanKind.CLIENT,
        attributes: { 'framework.mail.provider': provider },
      }),
    }),
    spans.follow<StorageTrace>({
      trace: 'storage',
      begin: ({ disk, operation, key }) => ({
        name: `storage ${operation}`,
        kind: SpanKind.CLIENT,
        attributes: { 'framework.storage.disk': disk, 'framework.storage.operation': operation },
        more: () => ({ 'framework.storage.key': key }),
      }),
    }),
    spans.follow<UploadTrace>({
      trace: 'upload',
      begin: () => ({ name: 'upload' }),
      ended: ({ files, bytes }) => ({ 'framework.upload.files': files, 'framework.upload.size': bytes }),
    }),
    spans.follow<WebsocketMessageTrace>({
      trace: 'websocket.message',
      // A connection may last for days, so each message is a trace of its own, linked to the request that opened the connection.
      begin: ({ route }) => ({
        name: `websocket ${route}`,
        kind: SpanKind.CONSUMER,
        ...spans.apart(),
        attributes: { 'http.route': route },
      }),
    }),
    spans.follow<ChannelPublishTrace>({
      trace: 'channel.publish',
      begin: ({ channel, kind }) => ({
        name: 'publish channel',
        kind: SpanKind.PRODUCER,
        attributes: { 'framework.channel.name': channel },
        more: () => ({ 'framework.channel.kind': kind }),
      }),
    }),
    spans.follow<GraphqlOperationTrace>({
      trace: 'graphql.operation',
      // The client chooses the operation's name, so it does not become the name of the span.
      begin: ({ type, name }) => ({
        name: type,
        attributes: { 'graphql.operation.type': type },
        more: () => (name === undefined ? {} : { 'graphql.operation.name': name.slice(0, 256) }),
      }),
    }),
  ]
  if (settings.resolvers)
    ends.push(
      spans.follow<GraphqlResolverTrace>({
        trace: 'graphql.resolver',
        begin: ({ type, field }) => ({ name: `resolve ${type}.${field}` }),
      }),
    )
  if (settings.plugins)
    ends.push(
      spans.follow<PluginTrace>({
        trace: 'plugin',
        begin: ({ plugin, scope, phase }) => ({
          name: `plugin ${plugin} ${phase}`,
          more: () => ({ 'framework.plugin.scope': scope }),
        }),
      }),
    )
  const addEvent = (name: string, attributes: Attributes) =>
    spans.attempt(() => api.trace.getActiveSpan()?.addEvent(name, attributes))
  const moments: readonly (readonly [channel: string, happened: (event: unknown) => void])[] = [
    ['framework:cache', (event) => addEvent('cache', { 'framework.cache.outcome': (event as CacheTrace).outcome })],
    [
      'framework:rateLimit',
      (event) => {
        const { limit, accepted } = event as RateLimitTrace
        // Accepted requests are not worth an event, which would come with each of them.
        if (!accepted) addEvent('rate limit', { 'framework.rate_limit.limit': limit })
      },
    ],
  ]
  for (const [name, happened] of moments) heldChannel(name).subscribe(happened)
  ends.push(() => {
    for (const [name, happened] of moments) heldChannel(name).unsubscribe(happened)
  })
  return () => {
    for (const end of ends) end()
  }
}
