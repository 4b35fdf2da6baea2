import {
  definePlugin,
  type Logger,
  type Middleware,
  type Request,
  type Response,
  UpgradeRequiredError,
} from '../../kernel/index.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { connectionsOf } from '../shared/http/connections.ts'
import { option } from '../shared/options/index.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import { exchange } from './asyncapi.ts'
import type { Bus } from './buses/contract.ts'
import { Channel } from './channel.ts'
import { ChannelRouteError } from './errors.ts'
import { eventStreams } from './events.ts'
import { requestTypes } from './frames.ts'
import { type ChannelPublishTrace, Hub, servers } from './hub.ts'
import { type ChannelsSettings, channelsOptions } from './options.ts'
import { signOutOrders } from './orders.ts'
import { responder } from './requests.ts'
import { ChannelsService } from './service.ts'

const channelsOfRoute = option
  .list(
    option.value<Channel>("a channel: channel('orders/:id', { join })", (given) => given instanceof Channel),
    { min: 1 },
  )
  .guard()

/** The counts that the inspector shows. */
const titles = {
  channels: 'Channels in which someone is',
  members: 'Clients in them',
  streams: 'Clients over server-sent events',
  published: 'Published messages',
  refused: 'Refused messages and joins',
  gaps: 'Gaps in what a client has received',
}

const work: readonly WorkKind[] = [
  workKind<ChannelPublishTrace>({
    channel: 'channel.publish',
    role: 'publish',
    list: { id: 'channel', title: 'Channels' },
    help: 'Messages to channels',
    span: () => 'publish channel',
    title: ({ channel }) => channel,
    note: ({ kind }) => kind,
    data: ({ kind }) => ({ kind }),
    attributes: ({ channel, kind }) => ({ 'framework.channel.name': channel, 'framework.channel.kind': kind }),
  }),
]

/**
 * Lets clients join channels on routes with the option `channels`, over websockets or server-sent events; needs the plugin `websocket`.
 *
 * Channels are kept in memory by default; a Redis connects several instances.
 *
 * @example
 * const news = channel('news', { join: () => true })
 * router.ws('/live', { channels: [news] }, {})
 * new Server({ plugins: { websocket: true, channels: { store: { redis: 'redis://127.0.0.1:6379' } } } })
 */
export const channels = definePlugin({
  name: 'channels',
  access: {
    // The application decides in `join` who may enter a channel.
    guards: ({ options }) => ({
      parts: Object.fromEntries((options?.channels ?? []).map(({ name }) => [`channel ${name}`, { 'own join': [] }])),
    }),
  },
  dependencies: ['websocket'],
  options: channelsOptions,
  inspector: () => [
    {
      title: 'Channel counts',
      columns: ['What', 'Count'],
      rows(services) {
        const { counts } = services.get('channels')
        return Object.entries(titles).map(([name, title]) => [title, counts[name as keyof typeof titles]])
      },
    },
  ],
  work,
  routeOptions: { channels: channelsOfRoute },
  asyncapi: { exchange },
  health: {
    channels: {
      check: (services) => services.get('channels').check(),
      remedy: 'Start the Redis of the channels, or correct channels.store',
    },
  },
  memory: { store: 'memory' },
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: () => ({ channels: new ChannelsService() }),
  async setup(ctx, settings) {
    const { server, log } = ctx
    if (settings.store === 'memory')
      refuseSeveral(server.worker, 'the channels are kept', 'Set channels.store to { redis: "redis://…" }')
    const sockets = ctx.services.get('websockets')
    const bus = await busOf(settings, log)
    announceBackend(server, 'channels', bus, { limit: 2_000 })
    const hub = new Hub({ server, sockets }, bus, settings, log)
    const streams = eventStreams(hub, (req) => sockets.addStream(req), settings)
    ctx.services.get('channels').parts = { hub, streams }
    // Several scopes of a server may have channels.
    const hubs = servers.of(server) ?? new Set()
    const unmount = servers.mount(server, hubs)
    // Otherwise each process signs its own callers out.
    const orders = settings.store === 'memory' ? undefined : signOutOrders(bus, log)
    // Registered before the connections are opened: connections of a failed boot must not keep the process alive.
    ctx.onClose(async () => {
      hubs.delete(hub)
      if (hubs.size === 0) unmount()
      streams.endAll()
      orders?.close()
      await hub.close()
    })
    await hub.open(orders?.among)
    ctx.onReady(async () => {
      // Not after a failed boot: messages published to its hub would silently reach no client.
      hubs.add(hub)
      await orders?.begin(connectionsOf(server))
    })
    // The streams end together with the sockets, at the end of the drain window.
    ctx.onDrain(() => streams.endAll())

    ctx.onRoute((route) => {
      const { channels: given } = route.settings
      const { websocket: handlers, incoming, outgoing } = route.options
      if (given === undefined) return
      if (handlers === undefined)
        throw ChannelRouteError(
          'the option channels needs a websocket route: router.ws(path, { channels: […] }, handlers)',
        )
      const taken = Object.keys({ ...incoming, ...outgoing }).find((type) => type.startsWith('channel:'))
      if (taken !== undefined)
        throw ChannelRouteError(
          `the message type "${taken}" belongs to the channels of the route. Choose a type without "channel:"`,
        )
      if (new Set(given).size < given.length) throw ChannelRouteError('the route names a channel twice')
      for (const one of given) hub.know(one)
      sockets.extend(route, { types: requestTypes, received: responder(hub, given, log) })
      const { data } = handlers as { readonly data?: (req: Request, res: Response) => unknown }
      const step: Middleware = function channelEvents(req, res, next) {
        if (req.raw.upgrade !== undefined || req.method !== 'GET') return next()
        if (req.query.channel === undefined) {
          res.setHeader('connection', 'upgrade')
          res.setHeader('upgrade', 'websocket')
          throw UpgradeRequiredError(
            'this path accepts websockets, or server-sent events of the channels in its query: ?channel=…',
          )
        }
        sockets.checkOrigin(route, req)
        return respond(req, res)
      }
      const respond = async (req: Request, res: Response) => {
        await streams.respond(req, res, given, await data?.(req, res))
      }
      route.add('around', step)
    })
  },
})

async function busOf({ store }: ChannelsSettings, log: Logger): Promise<Bus> {
  if (store === 'memory') return new (await import('./buses/memory.ts')).MemoryBus()
  return new (await import('./buses/redis.ts')).RedisBus(store.redis, log)
}
