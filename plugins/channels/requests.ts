import { BadRequestError, type Logger } from '../../kernel/index.ts'
import type { Message, Socket } from '../websocket/index.ts'
import type { DeclaredChannel } from './declared.ts'
import { UnknownChannelError } from './errors.ts'
import { noticeFrame } from './frames.ts'
import type { Hub } from './hub.ts'
import { clientOf } from './socket-client.ts'

/** Returns the channel of a route for a name that a client gives. @throws UnknownChannelError */
export function channelFor(channels: readonly DeclaredChannel[], name: string): DeclaredChannel {
  const channel = channels.find(({ pattern }) => pattern.match(name) !== undefined)
  if (channel === undefined) throw UnknownChannelError(name.slice(0, 100))
  return channel
}

/** A request of a client; the response repeats its `ref`. */
type ChannelRequest = { readonly [Member in 'channel' | 'after' | 'author' | 'payload' | 'ref']?: unknown }

/** Returns the client's `ref` if it may be sent back: a number, or a string of at most 100 characters. */
const refOf = ({ ref }: ChannelRequest) =>
  (typeof ref === 'string' && ref.length <= 100) || typeof ref === 'number' ? ref : undefined

/**
 * Makes the function that responds to the messages of websockets that are about channels. Messages of other clients are handled meanwhile;
 * those of this client wait, so that they keep their order.
 */
export function responder(hub: Hub, channels: readonly DeclaredChannel[], log: Logger) {
  const respond = async (socket: Socket, type: string, request: ChannelRequest) => {
    const { channel: name, after, author, payload } = request
    if (typeof name !== 'string') throw BadRequestError('"channel" must be the name of a channel, a string')
    if (after !== undefined && (typeof after !== 'string' || after === ''))
      throw BadRequestError('"after" must be the id of a message, a string, or be left out')
    if (author !== undefined && (typeof author !== 'string' || author === '' || author.length > 100))
      throw BadRequestError('"author" must be the string from an earlier "channel:joined", or be left out')
    const channel = channelFor(channels, name)
    const ref = refOf(request)
    const joined = clientOf(socket, hub)
    if (type === 'channel:join') return hub.join(joined, channel, name, { after, author, ref })
    if (type === 'channel:leave') {
      hub.leave(joined, name)
      return joined.send(name, noticeFrame('left', { channel: name, ref, reason: 'asked' }))
    }
    const id = await hub.publishOf(joined, name, payload)
    joined.send(name, noticeFrame('published', { channel: name, ref, id }))
  }
  return async (socket: Socket, { type, data }: Message): Promise<void> => {
    const request: ChannelRequest = typeof data === 'object' && data !== null ? data : {}
    try {
      await respond(socket, type, request)
    } catch (error) {
      const { code, message, status, cause, issues } = error as Record<string, unknown>
      if (status === undefined || status === 500) throw error
      if (status === 503) log.warn({ err: cause ?? error }, 'a client was refused because a channel cannot be reached')
      const channel = typeof request.channel === 'string' ? request.channel.slice(0, 256) : ''
      const notice = noticeFrame('refused', { channel, ref: refOf(request), code, message, errors: issues })
      socket.sendFrame(notice.text, true)
    }
  }
}
