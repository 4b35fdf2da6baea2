import type { Connection } from '../../../kernel/index.ts'

/** The part of a runtime's websocket that a socket needs. No method throws, whatever the state of the connection is. */
export interface Wire {
  /** A string is sent as a text frame, bytes are sent as a binary one. */
  send(message: string | Uint8Array): void
  /** Bytes that were sent and have not left this process. */
  getBufferedAmount(): number
  /** Requests one `relieved`, now that some of it waits. It may fail to come; absent where the runtime reports it by itself, or never. */
  watch?(): void
  /** Sends a close frame; `closed` follows when the client has answered. */
  close(code: number, reason: string): void
  /** Ends the connection without a close frame. */
  terminate(): void
  /** Sends a ping. Absent where the runtime does that by itself. */
  ping?(): void
  /** Stops and starts the reading of messages. Absent where the runtime reads on. */
  pause?(): void
  /** Reads messages again after `pause`. */
  resume?(): void
}

/** The events of a wire; `closed` comes once, and nothing comes after it. */
export interface WireEvents {
  /** The handshake is over. */
  opened(wire: Wire): void
  /** A whole message: a string, or bytes. */
  received(message: string | Uint8Array): void
  /** A ping or a pong of the client. */
  controlled(frame: 'ping' | 'pong'): void
  /** Buffered data was sent. Some runtimes report it late, or never. */
  relieved(): void
  /** The connection has ended, with the code of RFC 6455 section 7.4: 1006 where the client has broken off. */
  closed(code: number, reason: string): void
}

/** Options for opening a websocket. */
export interface WireOptions {
  /** Bytes of a message; a longer one closes with 1009. */
  readonly maxMessageSize: number
  /** Whether messages are compressed (RFC 7692) where the client can. */
  readonly compression: boolean
  /** The sub-protocol that was chosen, `''` for none. */
  readonly protocol: string
  /** Milliseconds after which a runtime that sends its own pings gives up a silent client; 0 for never. */
  readonly silence: number
}

/** Opens the websocket of a connection: answers 101 with the headers, and reports to `events` from then on. */
export type OpenWire = (
  connection: Connection,
  headers: readonly string[],
  options: WireOptions,
  events: WireEvents,
) => unknown
