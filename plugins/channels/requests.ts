import { BadRequestError, type Logger } from '../../kernel/index.ts'
import type { Message, Socket } from '../websocket/index.ts'
import type { DeclaredChannel } from './declared.ts'
import { UnknownChannelError } from './errors.ts'
import { noticeFrame, type requestTypes } from './frames.ts'
import type { Hub } from './hub.ts'
import { clientOf } from './socket-client.ts'

/** The channels of one route, by the names that clients give. */
export class RouteChannels {
  readonly #channels: readonly DeclaredChannel[]

  constructor(channels: readonly DeclaredChannel[]) {
    this.#channels = channels
  }

  /** @throws UnknownChannelError */
  find(name: string): { readonly channel: DeclaredChannel; readonly name: string } {
    const channel = this.#channels.find(({ pattern }) => pattern.match(name) !== undefined)
    if (channel === undefined) throw UnknownChannelError(name.slice(0, 100))
    return { channel, name }
  }
}

/** A request of a client; the response repeats its `ref`. */
interface ChannelRequest {
  readonly channel?: unknown
  readonly after?: unknown
  readonly author?: unknown
  readonly payload?: unknown
  readonly ref?: unknown
}

/** Returns the client's `ref` if it may be sent back: a number, or a string of at most 100 characters. */
const refOf = ({ ref }: ChannelRequest) =>
  (typeof ref === 'string' && ref.length <= 100) || typeof ref === 'number' ? ref : undefined

/** Responds to the messages of websockets that are about channels. */
export class ChannelRequests {
  readonly #hub: Hub
  readonly #channels: RouteChannels
  readonly #log: Logger

  constructor(hub: Hub, channels: RouteChannels, log: Logger) {
    this.#hub = hub
    this.#channels = channels
    this.#log = log
  }

  /** Messages of other clients are handled meanwhile; those of this client wait, so that they keep their order. */
  async received(socket: Socket, { type, data }: Message): Promise<void> {
    const request: ChannelRequest = typeof data === 'object' && data !== null ? data : {}
    try {
      await this.#respond(socket, type as (typeof requestTypes)[number], request)
    } catch (error) {
      const { code, message, status, cause, issues } = error as Record<string, unknown>
      if (status === undefined || status === 500) throw error
      if (status === 503)
        this.#log.warn({ err: cause ?? error }, 'a client was refused because a channel cannot be reached')
      const channel = typeof request.channel === 'string' ? request.channel.slice(0, 256) : ''
      const notice = noticeFrame('refused', { channel, ref: refOf(request), code, message, errors: issues })
      socket.sendFrame(notice.text, true)
    }
  }

  async #respond(socket: Socket, type: (typeof requestTypes)[number], request: ChannelRequest): Promise<void> {
    const { after, author } = request
    if (typeof request.channel !== 'string') throw BadRequestError('"channel" must be the name of a channel, a string')
    if (after !== undefined && (typeof after !== 'string' || after === ''))
      throw BadRequestError('"after" must be the id of a message, a string, or be left out')
    if (author !== undefined && (typeof author !== 'string' || author === '' || author.length > 100))
      throw BadRequestError('"author" must be the one of an earlier "channel:joined", a string, or be left out')
    const { channel, name } = this.#channels.find(request.channel)
    const ref = refOf(request)
    const joined = clientOf(socket, this.#hub)
    if (type === 'channel:join') {
      await this.#hub.join(joined, channel, name, { after, author, ref })
    } else if (type === 'channel:leave') {
      this.#hub.leave(joined, name)
      joined.send(name, noticeFrame('left', { channel: name, ref, reason: 'asked' }))
    } else {
      const id = await this.#hub.publishOf(joined, name, request.payload)
      joined.send(name, noticeFrame('published', { channel: name, ref, id }))
    }
  }
}
