import { EventEmitter } from 'node:events'
import { systemClock } from '../../kernel/support/clock.ts'
import { within } from '../../kernel/support/within.ts'
import { type EndSignal, endWithParent } from './ending.ts'

/** A message on a channel, marked by its first member: an application may also use the channel. */
export interface Named {
  readonly framework: string
}

/** The order to end as after a signal. */
export interface Stop extends Named {
  readonly framework: 'stop'
  readonly signal: EndSignal
}

/** The received messages of a channel, by their names. */
export class Messages<Message extends Named> {
  readonly #heard = new EventEmitter()

  /** Receives a message, unless it is one of the application. */
  take(message: unknown): boolean {
    if (typeof message !== 'object' || message === null || !('framework' in message)) return false
    this.#heard.emit((message as Named).framework, message)
    return true
  }

  next<Name extends Message['framework']>(name: Name): Promise<Extract<Message, { framework: Name }>> {
    return new Promise((resolve) => this.#heard.once(name, resolve))
  }

  each<Name extends Message['framework']>(
    name: Name,
    hear: (message: Extract<Message, { framework: Name }>) => void,
  ): void {
    this.#heard.on(name, hear)
  }
}

/** The channel of this process to its parent. */
export type ParentChannel<Order extends Named, News extends Named> = ReturnType<typeof channelTo<Order, News>>

/**
 * Opens the channel to the parent process, with which this one ends.
 *
 * The application, which may also listen on the channel, does not receive the orders, which it would mistake for its own messages. On
 * Bun, whose messages do not pass `emit`, it does.
 */
export function channelTo<Order extends Named, News extends Named>(
  parent: number,
  ...ending: [signals: readonly EndSignal[], grouped: readonly EndSignal[]]
) {
  const end = endWithParent(parent, ...ending)
  const orders = new Messages<Order | Stop>()
  const { emit } = process
  process.emit = function emitToApplication(this: NodeJS.Process, ...args: [string, ...unknown[]]) {
    if (args[0] === 'message' && orders.take(args[1])) return true
    return Reflect.apply(emit, this, args)
  } as typeof emit
  process.on('message', (message: unknown) => orders.take(message))
  void orders.next('stop').then((order) => end((order as Stop).signal))
  return {
    orders,
    send(news: News) {
      // A closed channel accepts no message. Without the function, one whose parent was killed a moment ago would end this process.
      if (process.connected) process.send?.(news, () => {})
    },
  }
}

/** What the parent has put into a variable for this process; it is removed before the application reads the environment. */
export function takeVariable(name: string): string | undefined {
  const given = process.env[name]
  Reflect.deleteProperty(process.env, name)
  return given
}

/** The response to a question with a number. */
export interface Reply {
  readonly number: number
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string | undefined }
}

/** Answers a question; an error of the response is a reply, too. */
export async function replyTo(number: number, answer: () => unknown): Promise<Reply> {
  try {
    return { number, value: await answer() }
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    return { number, error: { message, code } }
  }
}

/** Questions to the other end of a channel that wait for a reply. */
export class Questions {
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #count = 0

  /** Puts a question; rejects with the error of its reply. With `late`, settles as that does after `ms` milliseconds. */
  async ask(put: (number: number) => void, ms = 0, late?: () => unknown): Promise<unknown> {
    const number = ++this.#count
    const replied = new Promise((resolve, reject) => {
      this.#waiting.set(number, ({ value, error }) =>
        error === undefined ? resolve(value) : reject(Object.assign(new Error(error.message), error)),
      )
      put(number)
    })
    if (late === undefined) return replied
    return within(replied, ms, late, systemClock).finally(() => this.#waiting.delete(number))
  }

  /** Rejects those that wait: the other end has gone. */
  end(): void {
    for (const number of this.#waiting.keys()) this.settle({ number, error: { message: 'the supervisor has ended' } })
  }

  settle(reply: Reply): void {
    this.#waiting.get(reply.number)?.(reply)
    this.#waiting.delete(reply.number)
  }
}
