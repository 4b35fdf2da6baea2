import { messageTrace } from './message-trace.ts'
import { errorFrame, type ReadMessage } from './messages.ts'
import type { Socket } from './socket.ts'
import type { SocketRoute } from './socket-route.ts'
import type { Message } from './types.ts'

type MessageHandler = (socket: Socket, message: unknown) => unknown

/** Passes a message of a client to its handler, or reports to the client what is wrong with it. */
export function handleMessage(socket: Socket, route: SocketRoute, message: string | Uint8Array): unknown {
  const read = route.read(message)
  return read instanceof Promise ? read.then((settled) => take(socket, route, settled)) : take(socket, route, read)
}

function take(socket: Socket, { sockets, handlers, extension, path }: SocketRoute, read: ReadMessage): unknown {
  if (!read.ok) {
    sockets.counts.invalid++
    return void socket.sendFrame(errorFrame(read.invalid))
  }
  sockets.counts.received++
  if (read.isExtension) return extension!.received(socket, read.message as Message)
  const { message } = handlers as { readonly message?: MessageHandler }
  return messageTrace.run(
    () => ({ socket, route: path, message: read.message }),
    () => message?.(socket, read.message),
  )
}
