import type { Entry } from './buses/contract.ts'

/** The kinds of notices that the server sends about a channel. */
export type NoticeType = 'joined' | 'left' | 'gap' | 'presence' | 'refused' | 'published'

/** The types of client messages that concern channels. */
export const requestTypes = ['channel:join', 'channel:leave', 'channel:publish'] as const

interface Notice {
  readonly channel: string
  readonly id?: string | undefined
  readonly [member: string]: unknown
}

/** One message to a client, serialised once for all clients of a channel. */
export class Frame {
  readonly id: string | undefined
  /** The place after which the client receives messages. */
  readonly start: string | undefined
  readonly #type: string
  readonly #data: string
  #text: string | undefined

  constructor(type: string, data: string, { id, start }: Partial<Pick<Frame, 'id' | 'start'>>) {
    this.#type = type
    this.#data = data
    this.id = id
    this.start = start
  }

  /** The frame as a message of a websocket. */
  get text(): string {
    this.#text ??= `{"type":"channel:${this.#type}","data":${this.#data}}`
    return this.#text
  }

  /** The frame as an event of a stream, without its id: messages have the type that a browser's `onmessage` handles. */
  get event(): string {
    const type = this.#type === 'message' ? '' : `event: channel:${this.#type}\n`
    return `${type}data: ${this.#data}\n`
  }
}

/** Returns a message as a frame. Its JSON contains no line breaks, so it fits on one line of a stream of events. */
export const messageFrame = (name: string, { id, body }: Entry): Frame =>
  new Frame('message', `{"channel":${JSON.stringify(name)},"id":"${id}","payload":${body}}`, { id })

export const noticeFrame = (type: NoticeType, data: Notice): Frame =>
  new Frame(type, JSON.stringify(data), { start: type === 'joined' || type === 'gap' ? data.id : undefined })
