import type { Middleware, Request, Response } from '../../kernel/index.ts'
import { defineError, definePlugin, isPromise } from '../../kernel/index.ts'
import type { AccessDemands, GuardedWay } from '../shared/development/access.ts'
import { figure } from '../shared/development/metrics.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { connectionsOf, signedOut } from '../shared/http/connections.ts'
import { defined } from '../shared/values/json.ts'
import { currentTenant, inTenant, keepTenant } from '../shared/values/tenants.ts'
import { exchange } from './asyncapi.ts'
import { checkHandshake, checkOrigin, chooseProtocol, withoutHandshake } from './handshake.ts'
import { readerOf, writerOf } from './messages.ts'
import { handlersOfRoute, schemasOfRoute, socketOfRoute, type WebsocketOptions, websocketOptions } from './options.ts'
import { Socket } from './socket.ts'
import type { SocketRoute } from './socket-route.ts'
import { Sockets } from './sockets.ts'
import { type BunHandlers, bunHandlers } from './transport/bun.ts'
import type { OpenTransport } from './transport/contract.ts'
import { transportOf } from './transport/open.ts'
import { openPoint, work } from './work.ts'

/** The kernel adds the route and its location to the message. */
const WebsocketRouteError = defineError('WebsocketRouteError', (why: string) => why)

const protocol = 'websocket'

/** The maximum number of bytes that wait for a slow reader that is not closed, as a multiple of its limit. */
const maxWaiting = 8

/**
 * Opens websockets on routes: `router.ws(path, options, handlers)`, or the route option `websocket` of a GET.
 *
 * The opening request is an ordinary one: scopes, guards, policies, sessions and validation come first, and their refusals are sent as
 * for any route. Pages of other origins are refused unless `origins` names them. On Node.js it needs the package `ws`.
 *
 * @example
 * router.ws('/echo', { message: (socket, text) => socket.send(text) })
 * new Server({ plugins: { websocket: { maxMessageSize: '64kb' } } })
 */
export const websocket = definePlugin({
  name: 'websocket',
  access: { guards },
  options: websocketOptions,
  inspector: () => [
    {
      title: 'Open websockets',
      columns: ['Socket', 'Route', 'Address', 'Bytes that wait'],
      *rows(services) {
        for (const { id, route, ip, buffered } of services.get('websockets')) yield [id, route, ip, buffered]
      },
      actions: [
        {
          name: 'Close',
          confirm: 'Close this websocket?',
          run(services, id) {
            const socket = [...services.get('websockets')].find((one) => one.id === id)
            if (socket === undefined) throw new Error('this websocket is no longer open')
            socket.close(1000, 'closed in the inspector')
            return 'It is closing.'
          },
        },
      ],
    },
  ],
  work,
  routeOptions: {
    websocket: handlersOfRoute,
    socket: socketOfRoute,
    incoming: schemasOfRoute,
    outgoing: schemasOfRoute,
  },
  asyncapi: { exchange },
  metrics: (services) => {
    const { open, opened, received, invalid, sent, dropped } = services.get('websockets').counts
    const messages = Object.entries({ received, invalid, sent, dropped }).map(([outcome, value]) => ({
      value,
      labels: { outcome },
    }))
    return [
      figure('gauge', 'websocket_open', 'Open websockets', open),
      figure('counter', 'websocket_opened', 'Websockets that were opened', opened),
      figure('counter', 'websocket_messages', 'Messages of websockets', messages),
    ]
  },
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: (settings) => ({ websockets: new Sockets(settings) }),
  async setup(ctx, settings) {
    const { server, log } = ctx
    const sockets = ctx.services.get('websockets')
    const bun: BunHandlers = bunHandlers(server, settings.maxMessageSize, settings.compression)
    ctx.upgrades({ protocol, bun: { websocket: bun }, ended: () => sockets.closeAll() })
    const transport = await transportOf(server.settings.adapter)
    // At the end of the drain window, load balancers no longer send new clients here.
    ctx.onDrain(() => sockets.closeAll())

    if (settings.maxSocketsPerAddress !== false) {
      // Each process would accept the maximum for an address.
      refuseSeveral(
        server.worker,
        'the sockets of each address are counted',
        'Leave out websocket.maxSocketsPerAddress',
      )
    }

    const all: SocketRoute[] = []
    // Not when the route is read, since other plugins may add handlers for its messages.
    ctx.onReady(() => {
      const idle = all.find(({ handlers, extension }) => extension === undefined && hasNone(handlers))
      if (idle !== undefined)
        throw WebsocketRouteError(
          `the websocket ${idle.path} has no handler. It needs at least one of data, open, message, close, error`,
        )
    })

    ctx.onRoute((route) => {
      const { websocket: handlers, socket: own, incoming, outgoing } = route.settings
      if (handlers === undefined) {
        const unused = Object.entries({ incoming, outgoing, socket: own }).find(([, value]) => value !== undefined)
        if (unused !== undefined)
          throw WebsocketRouteError(
            `the option ${unused[0]} is for websockets only: use router.ws(path, options, handlers)`,
          )
        return
      }
      if (route.method !== 'GET')
        throw WebsocketRouteError('a websocket is opened with GET: router.ws(path, options, handlers)')
      const limits = { ...settings, ...defined(own ?? {}), protocols: own?.protocols }
      const { maxMessageSize, maxBuffered, slowReaders } = limits
      // Bun has one limit for all routes.
      bun.maxPayloadLength = Math.max(bun.maxPayloadLength, maxMessageSize)
      const shared: SocketRoute = {
        ...limits,
        ...{ path: route.path, plugin: route.plugin },
        server,
        handlers,
        extension: undefined,
        incoming,
        read: readerOf(incoming),
        write: writerOf(outgoing),
        measures: 'Bun' in globalThis,
        bufferLimit: maxBuffered * (slowReaders === 'close' ? 1 : maxWaiting),
        sockets,
        log,
      }
      sockets.know(route, shared)
      all.push(shared)
      route.add('around', openerOf(shared, transport, sockets))
    })
  },
})

/** The pages that may open a websocket, for `framework access`. */
function guards({ options, settings }: GuardedWay): AccessDemands | undefined {
  const { origins } = { ...(settings as WebsocketOptions), ...options?.socket }
  if (options?.websocket === undefined || origins === 'any') return undefined
  return { conditions: { origin: Array.isArray(origins) ? origins : [] } }
}

/** Makes the last step of a route, which opens the websocket and lets other GET requests pass. */
function openerOf(route: SocketRoute, transport: OpenTransport, sockets: Sockets): Middleware {
  const { handlers, origins, path, maxMessageSize, compression, pingInterval, protocols } = route
  const { data } = handlers as { readonly data?: (req: Request, res: Response) => unknown }
  const open = (req: Request, res: Response, subProtocol: string, value: unknown) => {
    const { ip, server } = req
    const tenant = currentTenant()
    const params = isEmpty(req.params) ? noParams : req.params
    // `data` may have taken a long time.
    sockets.checkRoom(req)
    res.upgrade((connection, headers) => {
      const socket = new Socket(route, { data: value, params, ip, protocol: subProtocol })
      if (tenant !== undefined) inTenant(tenant, () => keepTenant(socket))
      // So may an `onSend` hook, and now the request can no longer be refused.
      if (server.closing.aborted) socket.close(1001, 'the server is shutting down')
      else if (sockets.refusalOf(ip) !== undefined) socket.close(1013, 'too many websockets')
      sockets.add(socket)
      const forget = connectionsOf(server)?.hold(req, () => socket.close(signedOut.code, signedOut.reason))
      if (forget !== undefined) socket.whenOver(forget)
      if (openPoint.isOn) openPoint.publish({ socket, route: path })
      const hold = () => sockets.hold(ip)
      const options = { maxMessageSize, compression, protocol: subProtocol, silence: pingInterval || 0, hold }
      return transport(connection, withoutHandshake(headers), options, socket)
    })
  }
  return function websocket(req, res, next) {
    if (req.raw.upgrade !== protocol) return next()
    checkHandshake(req, res)
    checkOrigin(req, origins)
    sockets.checkRoom(req)
    const chosen = chooseProtocol(req.raw.header('sec-websocket-protocol'), protocols)
    const value = data?.(req, res)
    if (isPromise(value)) return Promise.resolve(value).then((settled) => open(req, res, chosen, settled))
    open(req, res, chosen, value)
  }
}

const hasNone = (handlers: object) => Object.values(handlers).every((one) => one === undefined)

/** One object for all sockets without parameters: on Bun an object for each costs half as much memory as the socket itself. */
const noParams = Object.freeze({})

function isEmpty(params: object): boolean {
  for (const _ in params) return false
  return true
}
