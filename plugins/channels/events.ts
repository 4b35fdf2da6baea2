import { randomUUID } from 'node:crypto'
import { BadRequestError, clock, type Request, type Response, type Timer } from '../../kernel/index.ts'
import type { ChannelClient, DeclaredChannel } from './declared.ts'
import { TooManyChannelsError } from './errors.ts'
import type { Frame } from './frames.ts'
import type { Hub } from './hub.ts'
import { channelFor } from './requests.ts'
import type { JoinedClient, Member } from './room.ts'

export interface EventSettings {
  readonly maxChannelsPerClient: number
  readonly maxBuffered: number
  readonly keepAlive: number
}

/** Milliseconds after which a browser reconnects; randomised, so that the clients of an instance do not all return simultaneously. */
const retryMs = () => 500 + Math.floor(Math.random() * 1500)

/** The streams of server-sent events of one server. */
export type EventStreams = ReturnType<typeof eventStreams>

/** `enter` counts the stream of a request, throws if there are too many, and returns the function that ends the count. */
export function eventStreams(hub: Hub, enter: (req: Request) => () => void, settings: EventSettings) {
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
      const client = new EventClient(
        { id: randomUUID(), data, ip: req.ip, transport: 'events' },
        new Map(found.map(({ name }, i) => [name, seen?.[i] ?? ''])),
        settings,
        () => {
          leave()
          hub.leaveAll(client)
          open.delete(client)
        },
      )
      open.add(client)
      // Calls back immediately if the client has already gone.
      req.raw.onSettled(() => client.end())
      try {
        for (const [i, { channel, name }] of found.entries())
          await hub.join(client, channel, name, { after: seen?.[i] })
      } catch (error) {
        client.end()
        throw error
      }
      if (req.server.closing.aborted) client.end()
      res.setHeader('content-type', 'text/event-stream; charset=utf-8')
      res.setHeader('cache-control', 'no-cache, no-store')
      // nginx would hold events back until its buffer is full.
      res.setHeader('x-accel-buffering', 'no')
      return res.stream(client.stream)
    },
    /** Ends all streams: their clients reconnect, to another instance, with the id of their last event. */
    endAll(): void {
      for (const client of open) client.end()
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
  readonly members = new Map<string, Member>()
  readonly stream: ReadableStream<Uint8Array>
  /**
   * The id of the last message of each channel, in the order of the query: a client sends back one id for all channels. It starts with
   * the ids that the client sent: the first message of one channel must not erase the place in another.
   */
  readonly #seen: Map<string, string>
  readonly #maxBuffered: number
  readonly #timer: Timer
  readonly #onEnd: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(
    client: ChannelClient,
    seen: Map<string, string>,
    { maxBuffered, keepAlive }: EventSettings,
    onEnd: () => void,
  ) {
    this.client = client
    this.#seen = seen
    this.#maxBuffered = maxBuffered
    this.#onEnd = onEnd
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.#ended(),
      },
      { highWaterMark: 0, size: (chunk) => chunk!.byteLength },
    )
    this.#write(`retry: ${retryMs()}\n\n`)
    this.#timer = clock.setInterval(() => this.#write(':\n\n'), keepAlive)
    this.#timer.unref()
  }

  get isHere(): boolean {
    return this.#controller !== undefined
  }

  send(name: string, frame: Frame): void {
    const id = frame.id ?? frame.start
    if (id !== undefined && this.#seen.has(name)) this.#seen.set(name, id)
    this.#write(`${id === undefined ? '' : `id: ${[...this.#seen.values()].join(',')}\n`}${frame.event}\n`)
  }

  /** Ends the stream once the client was removed from its last channel; before that, an event about the removal is enough. */
  dropped(): void {
    if (this.members.size === 0) this.end()
  }

  #write(text: string): void {
    const controller = this.#controller
    if (controller === undefined) return
    // The client reconnects with the id of the last event that it has read.
    if (-(controller.desiredSize ?? 0) > this.#maxBuffered) {
      this.#ended()
      // An error drops the waiting bytes with the connection: a regular end would keep them for as long as the client does not read.
      controller.error(new Error('the client does not read its events'))
    } else controller.enqueue(encoder.encode(text))
  }

  end(): void {
    const controller = this.#controller
    if (controller === undefined) return
    this.#ended()
    controller.close()
  }

  #ended(): void {
    if (this.#controller === undefined) return
    this.#controller = undefined
    clock.clear(this.#timer)
    this.#onEnd()
  }
}

const encoder = new TextEncoder()
