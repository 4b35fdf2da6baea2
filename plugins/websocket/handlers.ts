import { isPromise } from '../../kernel/index.ts'
import { inTenant, tenantKeptBy } from '../shared/values/tenants.ts'
import { runInTime } from '../shared/work/attempt.ts'
import { inServer } from '../shared/work/contexts.ts'
import { Call } from '../shared/work/running.ts'
import { errorFrame, type ReadMessage } from './messages.ts'
import type { SocketRoute } from './socket-route.ts'
import type { Message, MessageCall, ServerSocket } from './types.ts'
import { handlerTrace, messageTrace } from './work.ts'

interface HandledSocket extends ServerSocket {
  sendFrame(frame: string): boolean
  abortAtEnd(call: Call): void
}

type MessageHandler = (socket: HandledSocket, message: unknown, call: MessageCall) => unknown

/** Passes a message of a client to its handler, or reports to the client what is wrong with it. */
export function handleMessage(socket: HandledSocket, route: SocketRoute, message: string | Uint8Array): unknown {
  const read = route.read(message)
  return read instanceof Promise ? read.then((settled) => take(socket, route, settled)) : take(socket, route, read)
}

function take(socket: HandledSocket, route: SocketRoute, read: ReadMessage): unknown {
  const { sockets, handlers, extension, path, plugin, timeout } = route
  if (!read.ok) {
    sockets.counts.invalid++
    return void socket.sendFrame(errorFrame(read.invalid))
  }
  sockets.counts.received++
  if (read.isExtension) return extension!.received(socket, read.message as Message)
  const { message } = handlers as { readonly message?: MessageHandler }
  if (message === undefined) return undefined
  const call = new Call()
  socket.abortAtEnd(call)
  const what = `the handler of a message of the websocket ${path}`
  const run = () => message(socket, read.message, call)
  return messageTrace.run(
    () => ({ server: socket.server, socket, route: path, plugin, message: read.message }),
    () => runInTime({ call, timeout }, what, run),
  )
}

/** Does work of a socket for its server, and for the tenant of the request that has opened it. */
export const forSocket = <Result>(socket: ServerSocket, route: SocketRoute, work: () => Result): Result =>
  inTenant(tenantKeptBy(socket), () => {
    const { server, plugin } = route
    return inServer(server, () => (handlerTrace.isOn ? handlerTrace.begin({ socket, server, plugin }, work) : work()))
  })

/** Passes a handler's error to the handler `error`; without such a handler, logs it and closes the socket. */
export function handlerFailed(socket: ServerSocket, route: SocketRoute, error: unknown): void {
  const { error: onError } = route.handlers as { readonly error?: (socket: ServerSocket, error: unknown) => unknown }
  const close = (what: string, thrown: unknown) => {
    route.log.error({ err: thrown, socket: socket.id }, `${what} of the websocket ${route.path} failed`)
    socket.close(1011, 'the server has failed')
  }
  if (onError === undefined) return void close('a handler', error)
  const again = (second: unknown) => close('the error handler', second)
  try {
    const result = forSocket(socket, route, () => onError(socket, error))
    if (isPromise(result)) Promise.resolve(result).catch(again)
  } catch (second) {
    again(second)
  }
}
