import { isPromise } from '../../kernel/index.ts'
import type { SocketRoute } from './socket-route.ts'
import type { ServerSocket } from './types.ts'

type ErrorHandler = (socket: ServerSocket, error: unknown) => unknown

/** Passes a handler's error to the handler `error`; without such a handler, logs it and closes the socket. */
export function handlerFailed(socket: ServerSocket, { handlers, log, path }: SocketRoute, error: unknown): void {
  const { error: onError } = handlers as { readonly error?: ErrorHandler }
  const close = (what: string, thrown: unknown) => {
    log.error({ err: thrown, socket: socket.id }, `${what} of the websocket ${path} failed`)
    socket.close(1011, 'the server has failed')
  }
  if (onError === undefined) {
    close('a handler', error)
    return
  }
  const again = (second: unknown) => close('the error handler', second)
  try {
    const result = onError(socket, error)
    if (isPromise(result)) Promise.resolve(result).catch(again)
  } catch (second) {
    again(second)
  }
}
