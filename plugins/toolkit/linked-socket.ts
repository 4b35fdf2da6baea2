/** The client's end of a websocket that never leaves the process: what the test client gives, and the websocket plugin opens. */
export interface LinkedPeer {
  /** Called once, with how to reach the server's end and the sub-protocol. */
  opened(server: LinkedServer, protocol: string): void
  received(message: string | Uint8Array): void
  closed(code: number, reason: string): void
}

/** The server's end, as the client sees it. */
export interface LinkedServer {
  send(message: string | Uint8Array): void
  close(code: number, reason: string): void
}
