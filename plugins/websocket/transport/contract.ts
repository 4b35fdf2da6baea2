import type { Connection } from '../../../kernel/index.ts'

/** Length from which messages are compressed: compression makes smaller ones longer, or saves less than it costs. */
export const compressedFrom = 1024

/** The part of a runtime's websocket that a socket needs. No method throws, whatever the state of the connection is. */
export interface Transport {
  /** Sends a string as a text frame, and bytes as a binary frame; compressed if that is wanted and negotiated. */
  send(message: string | Uint8Array, compresses: boolean): void
  /** Bytes that were sent but have not left this process yet. */
  getBufferedAmount(): number
  /** Requests one `relieved`, now that data is waiting; it may never come. Absent if the runtime reports it by itself, or not at all. */
  watch?(): void
  /** Sends a close frame; `closed` follows when the client has responded. */
  close(code: number, reason: string): void
  /** Ends the connection without a close frame. */
  terminate(): void
  /** Sends a ping. Absent if the runtime does that by itself. */
  ping?(): void
  /** Stops reading messages. Absent if the runtime cannot stop reading. */
  pause?(): void
  /** Resumes reading messages after `pause`. */
  resume?(): void
}

/** The events of a transport; `closed` comes once, and nothing comes after it. */
export interface TransportEvents {
  /** The handshake is over. */
  opened(transport: Transport): void
  /** A whole message has arrived: a string, or bytes. */
  received(message: string | Uint8Array): void
  /** The client sent a ping or a pong. */
  controlled(frame: 'ping' | 'pong'): void
  /** Buffered data was sent. Some runtimes report it late, or never. */
  relieved(): void
  /** The runtime closes by itself, because the client has closed, ended its side or broken the protocol; `closed` follows. */
  closing(): void
  /** The connection has ended, with the code of RFC 6455 section 7.4: 1006 if the client broke off. */
  closed(code: number, reason: string): void
}

/** Options for opening a websocket. */
export interface TransportOptions {
  /** The maximum size of a message in bytes; a longer one closes with 1009. */
  readonly maxMessageSize: number
  /** Whether messages are compressed (RFC 7692) if the client supports it. */
  readonly compression: boolean
  /** The chosen sub-protocol, `''` for none. */
  readonly protocol: string
  /** Milliseconds after which a runtime that sends its own pings gives up on a silent client; 0 for never. */
  readonly silence: number
  /** Takes a place for a connection that stays open after `closed`, until the returned function is called. */
  readonly hold: () => () => void
}

/** Opens the websocket of a connection: responds with 101 and the headers, and reports to `events` from then on. */
export type OpenTransport = (
  connection: Connection,
  headers: readonly string[],
  options: TransportOptions,
  events: TransportEvents,
) => unknown

export function refused(events: TransportEvents): Response {
  events.closed(1006, '')
  return new Response(null, { status: 400 })
}
