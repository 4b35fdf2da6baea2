import type { Socket } from '../websocket/index.ts'
import type { ChannelClient } from './channel.ts'
import type { Frame } from './frames.ts'
import type { Hub } from './hub.ts'
import type { JoinedClient } from './joined.ts'
import type { Member } from './room.ts'

/** What a channel needs of a websocket of the server. */
export interface JoinableSocket {
  readonly id: string
  readonly data: unknown
  readonly ip: string
  readonly isOpen: boolean
  readonly server: object
}

/** The same as the plugin of websockets has it for other plugins. */
type OwnSocket = JoinableSocket & Pick<Socket, 'sendFrame' | 'whenClosed'>

const clients = new WeakMap<JoinableSocket, SocketClient>()

/** The client of a websocket; made when it joins its first channel. */
export function clientOf(socket: JoinableSocket, hub: Hub): JoinedClient {
  let client = clients.get(socket)
  if (client === undefined) {
    const made = new SocketClient(socket)
    client = made
    clients.set(socket, made)
    ;(socket as OwnSocket).whenClosed(() => hub.leaveAll(made))
  }
  return client
}

class SocketClient implements JoinedClient {
  readonly client: ChannelClient
  readonly members = new Map<string, Member>()
  readonly #socket: OwnSocket

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

  send(_name: string, frame: Frame): void {
    this.#socket.sendFrame(frame.text)
  }

  dropped(): void {}
}
