import { madeIn } from '../shared/values/memoize.ts'
import { type Tenant, tenantKeptBy } from '../shared/values/tenants.ts'
import type { ServerSocket, Socket } from '../websocket/index.ts'
import { placeBefore } from './buses/contract.ts'
import type { ChannelClient } from './declared.ts'
import { type Frame, noticeFrame } from './frames.ts'
import type { JoinedClient, Member } from './room.ts'

/** The members of a websocket that a channel needs. */
export type JoinableSocket = Readonly<Pick<ServerSocket, 'id' | 'data' | 'ip' | 'isOpen' | 'server'>>

/** A joinable socket with the members that the websocket plugin offers to other plugins. */
type OwnSocket = JoinableSocket & Pick<Socket, 'sendFrame' | 'drained' | 'isOver' | 'whenOver'>

/** The hub that a client joins through. */
interface Owner {
  leaveAll(client: JoinedClient): void
}

/** The clients of each hub: if several scopes of a server have channels, a socket may be in channels of more than one. */
const clients = new WeakMap<Owner, WeakMap<JoinableSocket, SocketClient>>()

/** Returns the client of a websocket, which is created when the websocket joins its first channel. */
export function clientOf(socket: JoinableSocket, hub: Owner): JoinedClient {
  const all = madeIn(clients, hub, () => new WeakMap<JoinableSocket, SocketClient>())
  return madeIn(all, socket, () => {
    const client = new SocketClient(socket)
    ;(socket as OwnSocket).whenOver(() => hub.leaveAll(client))
    return client
  })
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
      // A getter, because handlers may assign `socket.data`.
      get data() {
        return socket.data
      },
      ip: socket.ip,
      transport: 'websocket',
    }
  }

  get tenant(): Tenant | undefined {
    return tenantKeptBy(this.#socket)
  }

  get isHere(): boolean {
    return !this.#socket.isOver
  }

  send(name: string, frame: Frame): void {
    const isNotice = frame.id === undefined
    this.#reportMissed(name, isNotice)
    if (this.#socket.sendFrame(frame.text, isNotice) || isNotice || !this.#socket.isOpen) return
    // If `slowReaders` drops messages, the client must learn of it: even if no further message of the channel follows.
    this.#missed ??= new Map()
    if (this.#missed.size === 0) void this.#socket.drained().then(() => this.#reportAllMissed())
    this.#missed.set(name, { after: this.#missed.get(name)?.after ?? placeBefore(frame.id), last: frame.id })
  }

  #reportMissed(name: string, isNotice: boolean): void {
    const missed = this.#missed?.get(name)
    if (missed === undefined) return
    const gap = noticeFrame('gap', { channel: name, after: missed.after, id: missed.last })
    if (this.#socket.sendFrame(gap.text, isNotice)) this.#missed!.delete(name)
  }

  #reportAllMissed(): void {
    for (const name of [...this.#missed!.keys()]) this.#reportMissed(name, true)
  }
}
