/** The client's end of an in-process websocket: the test client provides it, and the websocket plugin opens it. */
export interface LinkedPeer {
  /** Called once, with the server's end and the sub-protocol. */
  opened(server: LinkedServer, protocol: string): void
  received(message: string | Uint8Array): void
  closed(code: number, reason: string): void
}

/** The server's end, as the client sees it. */
export interface LinkedServer {
  send(message: string | Uint8Array): void
  close(code: number, reason: string): void
}
