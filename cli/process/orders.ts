import { EventEmitter } from 'node:events'

/** A message on a channel, marked by its first member: an application may also use the channel. */
interface Named {
  readonly framework: string
}

export const isNamed = (message: unknown) => typeof message === 'object' && message !== null && 'framework' in message

/**
 * Receives the orders of the parent process, and hides them from the application, which may also listen on the channel
 * and would mistake them for its own messages. On Bun, whose messages do not pass `emit`, the application also receives them.
 */
export function hearOrders<Order extends Named>(isOrder: (message: unknown) => message is Order) {
  const heard = new EventEmitter()
  const { emit } = process
  process.emit = function emitToApplication(this: NodeJS.Process, ...args: [string, ...unknown[]]) {
    const [event, message] = args
    if (event !== 'message' || !isOrder(message)) return Reflect.apply(emit, this, args)
    heard.emit(message.framework, message)
    return true
  } as typeof emit
  process.on('message', (message: unknown) => {
    if (isOrder(message)) heard.emit(message.framework, message)
  })
  return {
    next: <Kind extends Order['framework']>(kind: Kind) =>
      new Promise<Extract<Order, { framework: Kind }>>((resolve) => heard.once(kind, resolve)),
    each<Kind extends Order['framework']>(
      kind: Kind,
      hear: (order: Extract<Order, { framework: Kind }>) => void,
    ): void {
      heard.on(kind, hear)
    },
  }
}
