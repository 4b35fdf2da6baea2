import type { Socket } from '../websocket/index.ts'
import { placeBefore } from './buses/contract.ts'
import type { ChannelClient } from './channel.ts'
import { type Frame, noticeFrame } from './frames.ts'
import type { Hub } from './hub.ts'
import type { JoinedClient } from './joined.ts'
import type { Member } from './room.ts'

/** The members of a websocket that a channel needs. */
export interface JoinableSocket {
  /** The id of the websocket. */
  readonly id: string
  /** What the handler `data` of its route has returned. */
  readonly data: unknown
  /** The address of the client. */
  readonly ip: string
  /** Whether it can be sent to. */
  readonly isOpen: boolean
  /** The server that the websocket belongs to. */
  readonly server: object
}

/** The same with the members that the websocket plugin has for other plugins. */
type OwnSocket = JoinableSocket & Pick<Socket, 'sendFrame' | 'whenClosed'>

/** For each hub: where several scopes of a server have channels, a socket may be in some of each. */
const clients = new WeakMap<Hub, WeakMap<JoinableSocket, SocketClient>>()

/** The client of a websocket; made when it joins its first channel. */
export function clientOf(socket: JoinableSocket, hub: Hub): JoinedClient {
  const all = clients.get(hub) ?? new WeakMap<JoinableSocket, SocketClient>()
  clients.set(hub, all)
  let client = all.get(socket)
  if (client === undefined) {
    const made = new SocketClient(socket)
    client = made
    all.set(socket, made)
    ;(socket as OwnSocket).whenClosed(() => hub.leaveAll(made))
  }
  return client
}

class SocketClient implements JoinedClient {
  readonly client: ChannelClient
  readonly members = new Map<string, Member>()
  readonly #socket: OwnSocket
  /** The messages that a slow reader did not receive, by channel. */
  #missed: Map<string, { readonly after: string; readonly last: string }> | undefined

  constructor(socket: JoinableSocket) {
    this.#socket = socket as OwnSocket
    this.client = {
      id: socket.id,
      // Handlers may assign it.
      get data() {
        return socket.data
      },
      ip: socket.ip,
      transport: 'websocket',
    }
  }

  get isOpen(): boolean {
    return this.#socket.isOpen
  }

  send(name: string, frame: Frame): void {
    const missed = this.#missed?.get(name)
    if (missed !== undefined) {
      const gap = noticeFrame('gap', { channel: name, after: missed.after, id: missed.last })
      if (this.#socket.sendFrame(gap.text)) this.#missed!.delete(name)
    }
    if (this.#socket.sendFrame(frame.text) || frame.id === undefined || !this.isOpen) return
    // Where `slowReaders` leaves messages out, the client must know it.
    this.#missed ??= new Map()
    this.#missed.set(name, { after: this.#missed.get(name)?.after ?? placeBefore(frame.id), last: frame.id })
  }

  dropped(): void {}
}
