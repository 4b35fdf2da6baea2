import { randomUUID } from 'node:crypto'
import { BadRequestError, type Request, type Response } from '../../kernel/index.ts'
import { connectionsOf } from '../shared/http/connections.ts'
import { EventStream } from '../shared/http/event-stream.ts'
import { currentTenant } from '../shared/values/tenants.ts'
import type { ChannelClient, DeclaredChannel } from './declared.ts'
import { TooManyChannelsError } from './errors.ts'
import type { Frame } from './frames.ts'
import type { Hub } from './hub.ts'
import type { ChannelsSettings } from './options.ts'
import { channelFor } from './requests.ts'
import type { JoinedClient, Member } from './room.ts'

/** Milliseconds after which a browser reconnects; randomised, so that the clients of an instance do not all return simultaneously. */
const retryMs = () => 500 + Math.floor(Math.random() * 1500)

/** The streams of server-sent events of one server. */
export type EventStreams = ReturnType<typeof eventStreams>

/** `enter` counts the stream of a request, throws if there are too many, and returns the function that ends the count. */
export function eventStreams(hub: Hub, enter: (req: Request) => () => void, settings: ChannelsSettings) {
  const open = new Set<EventClient>()
  return {
    get size(): number {
      return open.size
    },
    /**
     * Responds with the messages of the channels that the query names: `?channel=orders/7&channel=news`.
     *
     * @throws (as a rejection) UnknownChannelError, ChannelRefusedError, TooManyChannelsError, BadRequestError, TooManySocketsError,
     * TooManySocketsOfAddressError, ServerClosingError.
     */
    async respond(req: Request, res: Response, channels: readonly DeclaredChannel[], data: unknown) {
      const names = new URL(req.url, 'http://localhost').searchParams.getAll('channel')
      const found = [...new Set(names)].map((name) => ({ name, channel: channelFor(channels, name) }))
      const { maxChannelsPerClient } = settings
      if (found.length > maxChannelsPerClient) throw TooManyChannelsError(maxChannelsPerClient)
      const seen = lastSeen(req.raw.header('last-event-id'), found.length)
      const leave = enter(req)
      let forget: (() => void) | undefined
      const client = new EventClient(
        { id: randomUUID(), data, ip: req.ip, transport: 'events' },
        new Map(found.map(({ name }, i) => [name, seen?.[i] ?? ''])),
        settings,
        () => {
          forget?.()
          leave()
          hub.leaveAll(client)
          open.delete(client)
        },
      )
      open.add(client)
      forget = connectionsOf(req.server)?.hold(req, () => client.stream.end())
      // Calls back immediately if the client has already gone.
      req.raw.onSettled(() => client.stream.end())
      try {
        for (const [i, { channel, name }] of found.entries())
          await hub.join(client, channel, name, { after: seen?.[i] })
      } catch (error) {
        client.stream.end()
        throw error
      }
      if (req.server.closing.aborted) client.stream.end()
      return client.stream.respond(res)
    },
    /** Ends all streams: their clients reconnect, to another instance, with the id of their last event. */
    endAll(): void {
      for (const client of open) client.stream.end()
    },
  }
}

/** The last ids that a client has seen, in the order of its channels. */
function lastSeen(header: string | undefined, channels: number): readonly (string | undefined)[] | undefined {
  if (header === undefined || header === '') return undefined
  const ids = header.split(',')
  if (ids.length !== channels)
    throw BadRequestError(`Last-Event-ID has ${ids.length} ids, and the query names ${channels} channels`)
  return ids.map((id) => (id === '' ? undefined : id))
}

/** One stream of events. */
class EventClient implements JoinedClient {
  readonly client: ChannelClient
  readonly tenant = currentTenant()
  readonly members = new Map<string, Member>()
  readonly stream: EventStream
  /**
   * The id of the last message of each channel, in the order of the query: a client sends back one id for all channels. It starts with
   * the ids that the client sent: the first message of one channel must not erase the place in another.
   */
  readonly #seen: Map<string, string>
  readonly #maxBuffered: number

  constructor(client: ChannelClient, seen: Map<string, string>, settings: ChannelsSettings, onEnd: () => void) {
    this.client = client
    this.#seen = seen
    this.#maxBuffered = settings.maxBuffered
    this.stream = new EventStream(`retry: ${retryMs()}\n\n`, settings.keepAlive, onEnd)
  }

  get isHere(): boolean {
    return this.stream.isOpen
  }

  send(name: string, frame: Frame): void {
    const id = frame.id ?? frame.start
    if (id !== undefined && this.#seen.has(name)) this.#seen.set(name, id)
    // The client reconnects with the id of the last event that it has read. A regular end would keep what waits for as long as it does not read.
    if (this.stream.waiting > this.#maxBuffered) this.stream.end(new Error('the client does not read its events'))
    else this.stream.write(`${id === undefined ? '' : `id: ${[...this.#seen.values()].join(',')}\n`}${frame.event}\n`)
  }

  /** Ends the stream once the client was removed from its last channel; before that, an event about the removal is enough. */
  dropped(): void {
    if (this.members.size === 0) this.stream.end()
  }
}
